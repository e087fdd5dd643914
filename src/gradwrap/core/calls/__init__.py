"""Calls of one operation, written or general: on the tape, in forward mode, on a batch."""
