"""NumPy: its backend, its protocols and its functions."""
