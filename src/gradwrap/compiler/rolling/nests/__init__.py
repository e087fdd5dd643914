"""Nests: loops around loops whose number of turns grows or shrinks from turn to turn.

`search.py` finds them in a trace, and `emission.py` writes them as loops of the program.
"""
