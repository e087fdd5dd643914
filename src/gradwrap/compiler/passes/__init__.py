"""Passes: each takes a program and returns a shorter or quicker one of the same meaning."""
