"""Compilation: one run of a function is recorded as a program and written as NumPy source.

`ir` defines the program, `tracing` records it, `passes` and `rolling` rewrite it in the order of
`pipeline`, `engines` turn it into a callable, and `calls` keeps the programs of one function.
`cache` keeps files for later processes.
"""

from gradwrap.compiler.cache import CacheInfo, cache_clear, cache_info

__all__ = ["CacheInfo", "cache_clear", "cache_info"]
