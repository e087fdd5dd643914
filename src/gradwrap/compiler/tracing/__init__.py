"""One run of a function, written down: the tracers, the tape, and what the function reads."""
