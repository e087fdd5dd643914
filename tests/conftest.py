"""What pytest is not to collect: files for the type checkers, which never run."""

collect_ignore = ["downstream", "typing"]
