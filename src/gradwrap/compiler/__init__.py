"""Compilation: one run of a function is recorded as a program and written as NumPy source.

`ir` defines the program, `tracing` records it, `passes` and `rolling` rewrite it in the order of
`pipeline`, `engines` turn it into a callable, and `calls` keeps the programs of one function.
`cache` keeps files for later processes.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradwrap.compiler.cache import CacheInfo, cache_clear, cache_info
else:

    def __getattr__(name: str) -> object:
        """Import a name of the cache, which most programs do without."""
        import importlib

        if name not in __all__:
            raise AttributeError(f"module 'gradwrap.compiler' has no attribute {name!r}")
        return getattr(importlib.import_module("gradwrap.compiler.cache"), name)


__all__ = ["CacheInfo", "cache_clear", "cache_info"]
