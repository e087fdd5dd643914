"""Compilation: one run of a function as a program, written out as NumPy source.

`program.py` describes the program, `tracing.py` records it, `passes.py` and `rolling.py` rewrite
it, `source.py` writes it out, and `compiled.py` keeps the programs of one function.
"""
