"""Everything that enters other packages: nobody has to edit them for their code to be differentiated.

`adapting` finds the modules of a function itself; `adapt` and `adapted` take their names. Some
libraries offer a place where gradwrap enters itself when they are imported (`companions`).
"""
