"""Try functions of public packages: `python -m benchmarks.wild [--sample NAME] [name ...]`.

Without names all packages of a sample are tried. The samples are `packages`, `fresh`, `unseen`,
`later`, `fifth`, `sixth`, `seventh`, `eighth`, `ninth`, `tenth`, `eleventh`, `twelfth`,
`thirteenth`, `fourteenth`, `fifteenth`, `sixteenth`, `seventeenth`, `eighteenth`, `nineteenth`,
`twentieth`, `twentyfirst`, `twentysecond`, `twentythird`, `twentyfourth`, `twentyfifth`,
`twentysixth`, `twentyseventh`, `twentyeighth` and `twentyninth`, which need the extras `wild`,
`wild-fresh` and so on to `wild-twentyninth`. `--write` enters the table in
docs/public-packages.md; `--cost` measures what it costs that a package is adapted, and what
gradients cost; `--compiled` compares compiled gradients with eager ones at other arguments.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
from collections import Counter
from functools import partial
from pathlib import Path

from .compiled import compiled
from .cost import cost_table
from .eighteenth import EIGHTEENTH
from .eighth import EIGHTH
from .eleventh import ELEVENTH
from .fifteenth import FIFTEENTH
from .fifth import FIFTH
from .fourteenth import FOURTEENTH
from .fresh import FRESH
from .functions import PACKAGES
from .later import LATER
from .nineteenth import NINETEENTH
from .ninth import NINTH
from .seventeenth import SEVENTEENTH
from .seventh import SEVENTH
from .sixteenth import SIXTEENTH
from .sixth import SIXTH
from .tenth import TENTH
from .thirteenth import THIRTEENTH
from .trying import REFUSED, RIGHT, Tried, tried, version
from .twelfth import TWELFTH
from .twentieth import TWENTIETH
from .twentyeighth import TWENTYEIGHTH
from .twentyfifth import TWENTYFIFTH
from .twentyfirst import TWENTYFIRST
from .twentyfourth import TWENTYFOURTH
from .twentyninth import TWENTYNINTH
from .twentysecond import TWENTYSECOND
from .twentyseventh import TWENTYSEVENTH
from .twentysixth import TWENTYSIXTH
from .twentythird import TWENTYTHIRD
from .unseen import UNSEEN

SAMPLES = {
    "packages": PACKAGES,
    "fresh": FRESH,
    "unseen": UNSEEN,
    "later": LATER,
    "fifth": FIFTH,
    "sixth": SIXTH,
    "seventh": SEVENTH,
    "eighth": EIGHTH,
    "ninth": NINTH,
    "tenth": TENTH,
    "eleventh": ELEVENTH,
    "twelfth": TWELFTH,
    "thirteenth": THIRTEENTH,
    "fourteenth": FOURTEENTH,
    "fifteenth": FIFTEENTH,
    "sixteenth": SIXTEENTH,
    "seventeenth": SEVENTEENTH,
    "eighteenth": EIGHTEENTH,
    "nineteenth": NINETEENTH,
    "twentieth": TWENTIETH,
    "twentyfirst": TWENTYFIRST,
    "twentysecond": TWENTYSECOND,
    "twentythird": TWENTYTHIRD,
    "twentyfourth": TWENTYFOURTH,
    "twentyfifth": TWENTYFIFTH,
    "twentysixth": TWENTYSIXTH,
    "twentyseventh": TWENTYSEVENTH,
    "twentyeighth": TWENTYEIGHTH,
    "twentyninth": TWENTYNINTH,
}
GUIDE = Path(__file__).parents[2] / "docs" / "existing-code.md"
RECORD = GUIDE.with_name("public-packages.md")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wild", description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--sample", choices=SAMPLES, default="packages")
    parser.add_argument("--write", action="store_true", help="enter the table in the page")
    parser.add_argument("--cost", action="store_true", help="measure times")
    parser.add_argument("--compiled", action="store_true", help="compare compiled gradients")
    parser.add_argument("--engine", default="numpy", help="of compiled gradients")
    options = parser.parse_args()
    attempt = partial(compiled, engine=options.engine) if options.compiled else tried
    if options.cost:
        text = cost_table()
        print(text)
        if options.write:
            enter(GUIDE, "cost", text)
        return
    rows: list[tuple[str, str, list[Tried]]] = []
    for package in SAMPLES[options.sample]:
        if options.names and package.name not in options.names:
            continue
        results = [attempt(case) for case in package.cases()]
        rows.append((package.name, package.subject, results))
        for one in results:
            if one.verdict != RIGHT:
                print(f"{package.name}: {one.label}: {one.verdict}: {one.reason}", flush=True)
    text = table(rows)
    print(text)
    if options.write and not options.compiled:
        enter(RECORD, options.sample, text)


def table(rows: list[tuple[str, str, list[Tried]]]) -> str:
    """The table of packages, with a line of sums."""
    counts = Counter(one.verdict for _, _, results in rows for one in results)
    everything = sum(counts.values())
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    lines = [
        (
            f"{dt.datetime.now(tz=dt.UTC).date()}: {len(rows)} packages, {everything} functions: "
            f"{verdicts} ({counts[RIGHT] / everything:.0%} right)."
        ),
        "",
        "| package | subject | tried | right | refused, and why |",
        "| --- | --- | --: | --: | --- |",
    ]
    for name, subject, results in rows:
        right = sum(one.verdict == RIGHT for one in results)
        others = "; ".join(
            f"{one.label}: {one.reason}"
            if one.verdict == REFUSED
            else f"{one.label}: {one.verdict}"
            for one in results
            if one.verdict != RIGHT
        )
        lines.append(
            f"| {name} {version(name)} | {subject} | {len(results)} | {right} | {others} |"
        )
    return "\n".join(lines)


def enter(page: Path, name: str, text: str) -> None:
    """Put a text between the marks of that name in a page."""
    before = page.read_text(encoding="utf-8")
    marks = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    found = re.compile(f"{re.escape(marks[0])}.*?{re.escape(marks[1])}", re.DOTALL)
    after = found.sub(lambda _: f"{marks[0]}\n{text}\n{marks[1]}", before)
    page.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
