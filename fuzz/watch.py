"""The command that watches a worker: what it finds, and what it does not survive, is kept as a file."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fuzz import ROOT, sanitize
from fuzz.input import AT_HAND, Input
from fuzz.reduce import reduced
from fuzz.subject import SUBJECTS

#: Seconds beyond those asked for after which a worker hangs: an input, and the reduction of the last finding.
PATIENCE = 120
#: Seconds for making what crashes smaller; each attempt is a process.
REDUCTION = 60.0
#: Lines of a report that are shown.
LINES = 60
AGREES, DIFFERS, CANNOT_RUN = 0, 1, 2


class Outcome(NamedTuple):
    """What came of a worker: *how* is empty, or ``crash`` or ``hang``."""

    how: str
    output: str
    report: str


class Worker:
    """The process that reads inputs, started anew for each call."""

    def __init__(self, subject: str, folder: Path, environment: Mapping[str, str], package: Path) -> None:
        self.subject, self.folder = subject, folder
        self.is_reported = bool(environment)
        path = [str(package), str(ROOT), str(ROOT / "example_project")]
        self.environment = {
            **os.environ,
            **environment,
            "PYTHONPATH": os.pathsep.join(path),
            "SCRAPY_SIMHASH_KERNEL": "native",
        }

    def run(self, *arguments: str, patience: float) -> Outcome:
        """Wait for a worker with these *arguments*, *patience* seconds at most."""
        # The folder first on the path is that of the program, and would hide the copy that is to be read.
        command = [sys.executable, "-P"] if sys.version_info >= (3, 11) else [sys.executable]
        try:
            done = subprocess.run(
                [
                    *(*command, "-m", "fuzz.worker", "--subject", self.subject),
                    *("--folder", str(self.folder), *arguments),
                ],
                env=self.environment,
                cwd=self.folder,
                stdout=subprocess.PIPE,
                # Progress is shown; what a sanitizer says is read.
                stderr=None if sys.stderr.isatty() and not self.is_reported else subprocess.PIPE,
                text=True,
                errors="replace",
                timeout=patience,
            )
        except subprocess.TimeoutExpired:
            return Outcome("hang", "", f"no end within {patience:.0f} s")
        how = "" if done.returncode in (AGREES, DIFFERS) and done.stdout else "crash"
        return Outcome(how, done.stdout, f"exit status {done.returncode}\n{done.stderr or ''}")

    def crashes(self, made: Input) -> bool:
        """Tell whether a worker does not survive the input."""
        file = self.folder / "smaller.json"
        made.write(file)
        outcome = self.run("--replay", str(file), patience=PATIENCE)
        file.unlink()
        return outcome.how == "crash"


def watched(
    subject: str, options: argparse.Namespace, folder: Path, environment: Mapping[str, str], package: Path
) -> dict[str, Any]:
    """Run a worker; return what came of it, a crash among the findings."""
    worker = Worker(subject, folder, environment, package)
    arguments = [f"--{name}={getattr(options, name)}" for name in ("seconds", "seed", "threads")]
    if options.replay:
        arguments = ["--replay", str(options.replay.resolve())]
    outcome = worker.run(*arguments, patience=options.seconds + PATIENCE)
    if not outcome.how:
        result: dict[str, Any] = json.loads(outcome.output)
        return result
    at_hand = options.replay.resolve() if options.replay else folder / AT_HAND
    if not at_hand.exists():
        raise SystemExit(f"the worker read nothing: {outcome.report}")
    made: Input = SUBJECTS[subject].read(at_hand)
    lines = [*outcome.report.splitlines(), *sanitize.report(package).splitlines()]
    if outcome.how == "crash":
        made = reduced(made, worker.crashes, REDUCTION)
    calls = [piece for piece in made.pieces() if isinstance(piece, str)]
    found = {"file": str(made.keep(folder, outcome.how)), "lines": [*calls, *lines[:LINES]]}
    return {"cases": None, "covered": None, "found": [found]}


def main(subject: str, title: str, arguments: Sequence[str] | None = None) -> int:
    """Fuzz a subject of `SUBJECTS` from the command line; *title* is what the help begins with."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--seconds", type=float, default=30, help="how long to read inputs (30)")
    parser.add_argument("--seed", type=int, default=0, help="which inputs (0)")
    parser.add_argument(
        "--threads", type=int, default=1, help="how many read at once; with more than one, forks read too (1)"
    )
    parser.add_argument("--sanitize", action="store_true", help="with the address and undefined sanitizers")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="read this one only")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where reproducers go (fuzz/out)")
    parser.add_argument("--json", action="store_true", help="print figures for programs")
    options = parser.parse_args(arguments)
    out = (options.out or ROOT / "fuzz" / "out").resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="simhash-fuzz-") as temporary:
        environment: Mapping[str, str] = {}
        if options.sanitize:
            try:
                environment = sanitize.build(Path(temporary))
            except sanitize.NotAvailable as reason:
                print(reason)
                return CANNOT_RUN
        package = Path(temporary) if options.sanitize else ROOT
        result = {
            "seed": options.seed,
            "sanitize": options.sanitize,
            **watched(subject, options, out, environment, package),
        }
    print(json.dumps(result, indent=1) if options.json else _in_words(subject, result))
    return DIFFERS if result["found"] else AGREES


def _in_words(subject: str, result: Mapping[str, Any]) -> str:
    if result["cases"] is None:
        lines = [f"The kernel did not survive an input (seed {result['seed']})."]
    else:
        lines = [SUBJECTS[subject].words.format(**{**result, "found": len(result["found"])})]
    for finding in result["found"]:
        lines += ["", finding["file"], *(f"  {line[:500]}" for line in finding["lines"])]
    return "\n".join(lines)
