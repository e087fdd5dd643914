"""Rolling: loops that tracing unrolled are found again."""
