"""Gradients through Dask, compared with the same written by hand: `python -m benchmarks.dask`."""
