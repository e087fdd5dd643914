"""Compilation: one run of a function as a program, written out as NumPy source.

`ir` describes the program, `tracing` records it, `passes` and `rolling` change it in the order of
`pipeline`, `engines` make a callable of it, and `calls` keeps the programs of one function.
"""
