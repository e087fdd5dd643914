"""Profiles: where the time and the memory of a differentiated program go.

`recording` observes operations and backward passes, `memory` keeps account of arrays, `report`
makes tables and advice of what was recorded, `flames` a picture, `html` a page of a notebook.
"""

from __future__ import annotations

from gradwrap.profiling.profile import Profile, profile
from gradwrap.profiling.report import Row

__all__ = ["Profile", "Row", "profile"]
