"""The c engine: stretches of a program become functions in C."""
