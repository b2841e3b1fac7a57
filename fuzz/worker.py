"""The process that reads cases; another one watches it (run.py), since a crash takes it down.

Before a case is read it is written to ``at-hand.json`` in the folder: what a crash leaves behind.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from fuzz import generate
from fuzz.case import AT_HAND, Case
from fuzz.compare import differences, is_covered
from fuzz.reduce import reduced

#: Findings after which a run ends: one mistake shows in many cases.
ENOUGH = 5
#: A line of progress, in seconds; and how long a finding is made smaller.
PROGRESS, REDUCTION = 0.5, 10.0


class Finding(NamedTuple):
    """A reproducer, and what it shows."""

    file: str
    lines: list[str]


class Run(NamedTuple):
    """What came of a run: cases read, how many of them the kernel read itself, and what was found."""

    cases: int
    covered: int
    found: list[Finding]


def fuzz(dice: random.Random, seconds: float, folder: Path) -> Run:
    """Read cases for *seconds*; reproducers of differences are written to *folder*."""
    folder.mkdir(parents=True, exist_ok=True)
    begin = shown = monotonic()
    cases = covered = 0
    found: list[Finding] = []
    while monotonic() - begin < seconds and len(found) < ENOUGH:
        case = generate.case(dice)
        case.write(folder / AT_HAND)
        lines = differences(case)
        cases += 1
        root = case.root() if case.kind != "text" else None
        covered += root is None or is_covered(root)
        if lines:
            found.append(keep(case, folder))
        if monotonic() - shown > PROGRESS:
            shown = monotonic()
            _progress(f"{shown - begin:.0f} s, {cases:,} cases, {len(found)} differences")
    _progress("")
    (folder / AT_HAND).unlink(missing_ok=True)
    return Run(cases, covered, found)


def keep(case: Case, folder: Path) -> Finding:
    """Make a case that shows a difference smaller, and write it to a file of its own."""
    small = reduced(case, lambda smaller: bool(differences(smaller)), REDUCTION)
    return Finding(str(small.keep(folder, "difference")), differences(small))


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def main() -> int:
    """Run from the command line; print what came of it as JSON."""
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--folder", type=Path, required=True)
    options.add_argument("--replay", type=Path, help="read this case only")
    given = options.parse_args()
    if given.replay:
        lines = differences(Case.read(given.replay))
        run = Run(1, 1, [Finding(str(given.replay), lines)] if lines else [])
    else:
        run = fuzz(random.Random(given.seed), given.seconds, given.folder)
    found = [finding._asdict() for finding in run.found]
    print(json.dumps({"cases": run.cases, "covered": run.covered, "found": found}))
    return 1 if run.found else 0


if __name__ == "__main__":
    sys.exit(main())
