"""The recorded graph, and the backward pass over it."""
