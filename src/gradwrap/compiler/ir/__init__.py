"""The program: its definition, and functions that read it."""
