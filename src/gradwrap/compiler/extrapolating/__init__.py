"""Programs of long loops, from traces of a few turns.

A trace performs every turn of every loop, so its cost grows with the lengths of the loops. The
program after rolling has the same steps for every length: only integers differ, such as numbers of
turns, shapes and keys, and they grow linearly. So a long function is traced with short loops, at
some lengths more than there are parameters, and the program of the actual lengths is extrapolated.

`sizes` shortens loops and arrays, `points` traces, `walk` takes programs apart, `fitting` and
`sequences` find what varies, and `proof` compares the result with the function.
"""
