"""The CuPy engine: programs as CuPy source, and tracing of CuPy arrays."""
