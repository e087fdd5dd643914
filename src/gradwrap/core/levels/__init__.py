"""Levels of transforms, recording modes, and the wrappers that belong to levels."""
