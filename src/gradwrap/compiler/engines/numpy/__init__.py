"""The NumPy engine: a program as NumPy source with reused buffers."""
