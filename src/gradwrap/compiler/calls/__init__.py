"""Calls of a compiled function: signatures, entries, and the choice of a program."""
