"""Differentiate packages that nobody can edit: their modules are adapted while they run.

`adapting` finds the modules itself; `adapt` and `adapted` take their names.
"""

from gradwrap.adaptation.modules import adapted_modules
from gradwrap.adaptation.public import adapt, adapted
from gradwrap.adaptation.running import adapting

__all__ = ["adapt", "adapted", "adapted_modules", "adapting"]
