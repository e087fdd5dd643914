"""Engines: each turns a program into a callable."""
