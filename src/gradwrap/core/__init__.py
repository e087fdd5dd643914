"""What every part is built on: the table, the recorder, the engine, the wrappers."""
