"""`python -m tests.fuzz`: run random programs, and minimise those that fail."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.fuzz.report import Findings, commit, distinct, enter, find_all, record


def main() -> int:
    """Run the programs and print what failed; return 1 if any has."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--minimise", type=int, default=5, help="so many failures of each kind")
    parser.add_argument("--record", action="store_true", help="enter it in docs/random-programs.md")
    parser.add_argument("--failures", type=Path, help="write the minimised failures there")
    options = parser.parse_args()

    found = Findings()
    for part in find_all(options.seed, options.programs, options.jobs):
        found.add(part)
        for program, outcome in part.failures:
            print(f"seed {program.seed}, {outcome.transform}: {outcome.kind}", file=sys.stderr)
        if found.programs % 1000 == 0:
            print(f"{found.programs:,} programs, {dict(found.verdicts)}", file=sys.stderr)
    scripts = distinct(found.failures, options.minimise)
    lines = [f"{found.programs:,} programs at {commit()}: {dict(found.verdicts)}", ""]
    for count, script in scripts:
        lines += [f"{count} times:", "```python", script, "```", ""]
    lines += ["Refused:", ""]
    lines += [f"{count:6} {message}" for message, count in found.refusals.most_common()]
    text = "\n".join(lines) + "\n"
    if options.failures is not None:
        options.failures.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    if options.record:
        enter(record(found, options.seed))
    return 1 if found.verdicts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
