"""JAX: its backend."""
