"""Passes: each rewrites a program into a shorter or faster one with the same meaning."""
