"""The wrapper as an array: operators, methods, writes, views, NumPy's protocols."""
