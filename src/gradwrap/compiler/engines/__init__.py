"""Engines: each makes a callable of a program."""
