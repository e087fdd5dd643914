"""CuPy: its backend, its protocol, its functions and kernels."""
