"""Run a fuzzer in a separate process: random pages, or incorrect calls to the compiled modules.

    python fuzz/run.py pages --seconds 30              # as long as you like
    python fuzz/run.py objects --seconds 300 --sanitize  # with sanitizers: Linux with gcc
    python fuzz/run.py pages --replay FILE             # read one reproducer again

``pages``: the C extension and pure Python must read a page alike. ``objects``: calls in wrong orders and with wrong
arguments may only raise exceptions. For every difference and crash, a file is written that reproduces it, and the
exit status is 1. The status is 2 if the fuzzer cannot run. The same seed makes the same inputs, as many as the time
allows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

# So that this file can be run as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "example_project"))

from fuzz import ROOT, calls, compare, generate, sanitize
from fuzz.case import Case

#: The file with the current input of a worker; after a crash, it still exists.
AT_HAND = "at-hand.json"
#: Seconds after its time limit at which a worker counts as hanging; max seconds to minimise a finding.
PATIENCE, REDUCTION = 120, 10.0
#: Max findings per run, and max lines of a report.
ENOUGH, LINES = 5, 60
AGREES, DIFFERS = 0, 1


class Subject(NamedTuple):
    """The functions that make inputs and compare their results."""

    make: Callable[[random.Random], Case]
    differences: Callable[[Case], list[str]]


SUBJECTS = {
    "pages": Subject(generate.case, compare.differences),
    "objects": Subject(calls.script, calls.differences),
}


def keep(made: Case, folder: Path, name: str) -> Path:
    """Write a reproducer, with a hash in its name; return the file."""
    file = folder / f"{name}-{sha256(made.written().encode()).hexdigest()[:12]}.json"
    file.write_text(made.written(), "ascii")
    return file


def reduced(made: Case, still_shows: Callable[[Case], bool], seconds: float = REDUCTION) -> Case:
    """Return *made* without the pieces that are not needed for the finding; takes up to *seconds*.

    Removes halves, then smaller parts, down to single pieces (Zeller and Hildebrandt 2002).
    """
    deadline = monotonic() + seconds
    pieces = made.pieces()
    size = max(1, len(pieces) // 2)
    while True:
        start, has_shrunk = 0, False
        while start < len(pieces):
            if monotonic() > deadline:
                return made
            fewer = pieces[:start] + pieces[start + size :]
            if still_shows(smaller := made.with_pieces(fewer)):
                made, pieces, has_shrunk = smaller, fewer, True
            else:
                start += size
        if size == 1 and not has_shrunk:
            return made
        size = max(1, size // 2)


def fuzz(subject: Subject, dice: random.Random, seconds: float, folder: Path) -> dict[str, Any]:
    """Read inputs for *seconds*; return their number and the findings, and write reproducers to *folder*."""
    end, cases = monotonic() + seconds, 0
    found: list[dict[str, Any]] = []
    while monotonic() < end and len(found) < ENOUGH:
        made = subject.make(dice)
        (folder / AT_HAND).write_text(made.written(), "ascii")
        if subject.differences(made):
            small = reduced(made, lambda smaller: bool(subject.differences(smaller)))
            file = keep(small, folder, "difference")
            found.append({"file": str(file), "lines": subject.differences(small)})
        cases += 1
    (folder / AT_HAND).unlink(missing_ok=True)
    return {"cases": cases, "found": found}


def work(options: argparse.Namespace) -> int:
    """Run the worker: read inputs, or read one input again, and print the result as JSON."""
    subject = SUBJECTS[options.subject]
    if options.replay:
        lines = subject.differences(Case.read(options.replay.read_text("ascii")))
        result = {"cases": 1, "found": [{"file": str(options.replay), "lines": lines}] if lines else []}
    else:
        result = fuzz(subject, random.Random(options.seed), options.seconds, options.out)
    print(json.dumps(result))
    return DIFFERS if result["found"] else AGREES


def watch(options: argparse.Namespace, environment: dict[str, str], package: Path) -> Any:
    """Run a worker; return its result, with a crash or a hang as a finding."""
    path = [str(package), str(ROOT), str(ROOT / "example_project")]
    kernel = {"PYTHONPATH": os.pathsep.join(path), "SCRAPY_SIMHASH_KERNEL": "native"}
    # The folder of the program must not be first on the path: it would hide the copy.
    program = "import sys; from fuzz.run import main; sys.exit(main())"
    command = [sys.executable, "-c", program, options.subject, "--worker", "--out", str(options.out)]
    command += ["--seconds", str(options.seconds), "--seed", str(options.seed)]
    if options.replay:
        command += ["--replay", str(options.replay)]
    try:
        done = subprocess.run(
            command,
            cwd=options.out,
            env={**os.environ, **environment, **kernel},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=options.seconds + PATIENCE,
        )
        if done.returncode in (AGREES, DIFFERS) and done.stdout:
            return json.loads(done.stdout)
        how, report = "crash", f"exit status {done.returncode}\n{done.stderr}"
    except subprocess.TimeoutExpired:
        how, report = "hang", f"no end within {options.seconds + PATIENCE:.0f} s"
    at_hand = options.replay or options.out / AT_HAND
    if not at_hand.exists():
        raise SystemExit(f"the worker read nothing: {report}")
    made = Case.read(at_hand.read_text("ascii"))
    lines = [*report.splitlines(), *sanitize.report(package).splitlines()][:LINES]
    return {"cases": None, "found": [{"file": str(keep(made, options.out, how)), "lines": lines}]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz a subject from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--seconds", type=float, default=30, help="seconds to read inputs (30)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the inputs (0)")
    parser.add_argument("--sanitize", action="store_true", help="with the address and undefined sanitizers")
    path = lambda name: Path(name).resolve()  # noqa: E731
    parser.add_argument("--replay", type=path, metavar="FILE", help="read this one only")
    out = ROOT / "fuzz" / "out"
    parser.add_argument(
        "--out", type=path, default=out, metavar="FOLDER", help="where reproducers go (fuzz/out)"
    )
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    if options.worker:
        return work(options)
    with tempfile.TemporaryDirectory(prefix="simhash-fuzz-") as temporary:
        environment: dict[str, str] = {}
        if options.sanitize:
            try:
                environment = sanitize.build(Path(temporary))
            except RuntimeError as reason:
                parser.error(str(reason))
        result = watch(options, environment, Path(temporary) if options.sanitize else ROOT)
    cases = result["cases"]
    read = "The kernel did not survive an input" if cases is None else f"{cases:,} inputs"
    print(f"{read}, {len(result['found'])} findings (seed {options.seed})")
    for finding in result["found"]:
        print("", finding["file"], *(f"  {line[:500]}" for line in finding["lines"]), sep="\n")
    return DIFFERS if result["found"] else AGREES


if __name__ == "__main__":
    sys.exit(main())
