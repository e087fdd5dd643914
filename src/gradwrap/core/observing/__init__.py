"""Observers: hooks, watches, inspected passes, and places where work was done."""
