"""The program: its definition, and what reads it without changing it."""
