"""Everything that enters other packages, so that their code is differentiated as it stands.

`adapting` finds the modules of a function itself; `adapt` and `adapted` take their names. Some
libraries offer a place where gradwrap enters itself when they are imported (`companions`).
"""
