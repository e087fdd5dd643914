"""Tracing: one run of a function on tracers, recorded on a tape, and its surroundings."""
