"""Rolling: the loops that a trace has unrolled are found again."""
