"""Values of any kind: arrays in trees, their spaces, and how they are compared."""
