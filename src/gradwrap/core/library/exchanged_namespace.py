"""Namespaces with some of their functions exchanged."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def module_like(namespace: Any, **changes: Any) -> ModuleType:
    """A module with all that a namespace has, and with `changes` in place of what it has there."""
    made = ModuleType(namespace.__name__)
    made.__dict__.update(namespace.__dict__)
    made.__dict__.update(changes)
    return made
