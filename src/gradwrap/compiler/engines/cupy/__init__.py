"""The cupy engine: a program as CuPy source, and CuPy's arrays in the compiler."""
