"""The surroundings of a function: the variables and arrays it reads beside its arguments.

`names` reads the names in its code. `find` finds the objects they lead to. `watch` tells if these
have changed. `copies` replaces their arrays by tracers.
"""
