"""The tables of derivatives, by the chapters of the standard. Importing this enters them all."""

from gradwrap.rules import batching, elementwise, linear_algebra, manipulation, reductions

__all__ = ["batching", "elementwise", "linear_algebra", "manipulation", "reductions"]
