"""Dask with tracked values: `gradwrap.dask.array` is a drop-in for `dask.array`."""
