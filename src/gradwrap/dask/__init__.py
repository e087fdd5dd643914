"""Dask, for tracked values: `gradwrap.dask.array` is `dask.array`."""
