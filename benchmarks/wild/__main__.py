"""Try functions of public packages: `python -m benchmarks.wild [--write] [name ...]`."""
