"""The process that reads inputs; another one watches it (watch.py), since a crash takes it down.

Before one is read it is written to ``at-hand.json`` in the folder: what a crash leaves behind.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from fuzz.input import AT_HAND, Input
from fuzz.reduce import reduced
from fuzz.subject import SUBJECTS, Subject

#: Findings after which a run ends: one mistake shows in many inputs.
ENOUGH = 5
#: A line of progress, in seconds; and how long a finding is made smaller.
PROGRESS, REDUCTION = 0.5, 10.0
#: With threads, after so many turns a fork reads the inputs of one, too.
FORKED_EVERY = 20


class Finding(NamedTuple):
    """A reproducer, and what it shows."""

    file: str
    lines: list[str]


class Run(NamedTuple):
    """What came of a run: inputs read, how many of them were covered, see `Subject`, and what was found."""

    cases: int
    covered: int
    found: list[Finding]


def fuzz(
    dice: random.Random,
    seconds: float,
    folder: Path,
    subject: Subject = SUBJECTS["pages"],
    threads: int = 1,
) -> Run:
    """Read inputs for *seconds*; reproducers of differences are written to *folder*.

    With several *threads* as many inputs are read at once, and of a crash only the first of them is kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    begin = shown = monotonic()
    cases = covered = turns = 0
    found: list[Finding] = []
    with ThreadPoolExecutor(threads) as pool:
        while monotonic() - begin < seconds and len(found) < ENOUGH:
            inputs = [subject.make(dice) for _ in range(threads)]
            inputs[0].write(folder / AT_HAND)
            told = (map if threads == 1 else pool.map)(subject.differences, inputs)
            for made, lines in zip(inputs, told, strict=True):
                covered += subject.is_covered(made)
                if lines:
                    found.append(keep(made, folder, subject))
            cases += threads
            turns += 1
            if threads > 1 and turns % FORKED_EVERY == 0 and (status := _in_a_fork(inputs, subject)):
                found.append(Finding(str(inputs[0].keep(folder, "fork")), [f"in a fork: status {status}"]))
            if monotonic() - shown > PROGRESS:
                shown = monotonic()
                _progress(f"{shown - begin:.0f} s, {cases:,} cases, {len(found)} differences")
    _progress("")
    (folder / AT_HAND).unlink(missing_ok=True)
    return Run(cases, covered, found)


def _in_a_fork(inputs: Sequence[Any], subject: Subject) -> int:
    """Read *inputs* in a fork of this process, and return its status: 0 if nothing differs there either."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    os._exit(int(any(subject.differences(made) for made in inputs)))


def keep(made: Input, folder: Path, subject: Subject) -> Finding:
    """Make an input that shows a difference smaller, and write it to a file of its own."""
    small = reduced(made, lambda smaller: bool(subject.differences(smaller)), REDUCTION)
    return Finding(str(small.keep(folder, "difference")), subject.differences(small))


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def main() -> int:
    """Run from the command line; print what came of it as JSON."""
    options = argparse.ArgumentParser()
    options.add_argument("--subject", choices=SUBJECTS, default="pages")
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--folder", type=Path, required=True)
    options.add_argument("--replay", type=Path, help="read this one only")
    given = options.parse_args()
    subject = SUBJECTS[given.subject]
    if given.replay:
        lines = subject.differences(subject.read(given.replay))
        run = Run(1, 1, [Finding(str(given.replay), lines)] if lines else [])
    else:
        run = fuzz(random.Random(given.seed), given.seconds, given.folder, subject, given.threads)
    found = [finding._asdict() for finding in run.found]
    print(json.dumps({"cases": run.cases, "covered": run.covered, "found": found}))
    return 1 if run.found else 0


if __name__ == "__main__":
    sys.exit(main())
