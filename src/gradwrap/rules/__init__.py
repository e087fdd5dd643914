"""The tables of derivatives, by the chapters of the standard. Importing this enters them all."""

from gradwrap.rules import elementwise, linear_algebra, manipulation, reductions

__all__ = ["elementwise", "linear_algebra", "manipulation", "reductions"]
