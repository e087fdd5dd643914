"""The C engine: stretches of a program become functions in C."""
