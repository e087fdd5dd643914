"""The rows of SciPy's functions, one file for each of its submodules."""
