"""Writing to wrapped arrays: `x[key] = value`, `x += y`, and effects on views.

A write goes through these files, from the top down:

- `write_call`: the written call of the usual case, which writes into the buffer itself;
- `write_through`: writes of forward mode and of batches into their buffers;
- `inplace`: all other writes, as new arrays and new nodes; the operators `+=` and the like;
- `outdated`: how a write makes the views of an array outdated, and how a view is taken again;
- `ownership`: whether only a variable and its views refer to a buffer;
- `views`: how a view was taken from its source;
- `remembered`: the views that an array has.
"""
