"""The rows of the table, their kinds, and the register that finds them by name."""
