"""Changes to other packages, so that their code is differentiated without edits.

`adapting` finds the modules of a function itself; `adapt` and `adapted` take their names. What is
done when a package is imported is in `after_import`, with a file for each package.
"""
