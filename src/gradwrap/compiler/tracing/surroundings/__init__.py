"""What a function reads beside its arguments.

`names` reads the names in its code. `find` finds what they lead to. `watch` tells if that has
changed. `copies` puts tracers in the place of its arrays.
"""
