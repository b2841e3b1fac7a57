"""Measure tests by mutants: random small changes of the code that the tests of a package should detect.

    nice python -m tests.mutants [--each 40] [--seed 1] [PACKAGE ...]

Each mutant is one change of one file, in a copy of the last commit: a comparison reversed, an operator or a
constant changed, a condition negated, a result dropped. It is killed if the tests of its package fail or take three
times as long. A line per mutant shows the file, the line and both texts. Some mutants are equivalent, others show
what no test checks. The same seed draws the same mutants of the same code, before and after a change of the tests.
``mutants.txt`` has the figures.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tokenize
from argparse import ArgumentParser
from collections.abc import Iterator
from io import StringIO
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

ROOT = Path(__file__).parents[1]
PACKAGE = "scrapy_simhash"
#: The files of each package and its tests.
PACKAGES: dict[str, tuple[str, list[str]]] = {
    **{
        name: (f"{name}/**/*.py", [f"tests/{name}"])
        for name in ("cli", "files", "index", "observers", "store")
    },
    # Fingerprints and explanations of these packages are committed; two of them read recorded pages.
    "view": ("view/**/*.py", ["tests/view", "tests/test_golden.py"]),
    **{
        name: (f"{name}/**/*.py", ["tests/test_golden.py", f"tests/{name}", "tests/fixtures"])
        for name in ("judge", "page")
    },
    "crawl": ("crawl/**/*.py", ["tests/crawl", "tests/crawls"]),
    "root": ("*.py", ["tests/test_*.py"]),
    # Each mutant of it is compiled.
    "kernel": ("kernel/**/*.c", ["tests/kernel", "tests/page/compiled", "tests/index", "tests/fixtures"]),
}
#: Mutations of C: a pattern and its replacement.
C_FAULTS = {
    r"(?<= )<(?= )": "<=",
    r"(?<= )<=(?= )": "<",
    r"(?<= )>(?= )": ">=",
    r"(?<= )>=(?= )": ">",
    r"(?<= )==(?= )": "!=",
    r"(?<= )!=(?= )": "==",
    r"(?<= )&&(?= )": "||",
    r"(?<= )\|\|(?= )": "&&",
    r"\+\+(?=;|\))": "+= 2",
    r"\b[1-9]\b": "0",
    r"\b0\b": "1",
}
#: Mutations of Python: a token and its replacement; a number becomes the next one. ``if`` negates the first operand.
PYTHON_FAULTS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not",
    "+": "-", "-": "+", "&": "|", "<<": ">>", ">>": "<<", "and": "or", "or": "and", "not": "",
    "if": "if not", "elif": "elif not", "while": "while not", "return": "return None and",
    "True": "False", "False": "True",
}  # fmt: skip
#: Tokens that are not replaced before these.
UNCHANGED = {("is", "not"), ("return", "\n")}


def python_places(text: str) -> list[tuple[int, int, str]]:
    """Return where a module can be mutated: start, end and replacement."""
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for token, following in pairwise(tokenize.generate_tokens(StringIO(text).readline)):
        is_number = token.type == tokenize.NUMBER and token.string.isdecimal()
        new = str(int(token.string) + 1) if is_number else PYTHON_FAULTS.get(token.string)
        if new is not None and (token.string, following.string) not in UNCHANGED:
            start = starts[token.start[0] - 1] + len(token.line[: token.start[1]].encode())
            found.append((start, start + len(token.string.encode()), new))
    return found


def c_places(text: str) -> list[tuple[int, int, str]]:
    """Return where C code can be mutated: start, end and replacement."""
    found, start = [], 0
    for line in text.splitlines(keepends=True):
        code = line.partition("/*")[0]
        if code.startswith("    ") and (";" in code or "{" in code):
            found += [
                (start + match.start(), start + match.end(), new)
                for pattern, new in C_FAULTS.items()
                for match in re.finditer(pattern, code)
            ]
        start += len(line)
    return found


def mutants(copy: Path, files: str, each: int, draw: random.Random) -> Iterator[tuple[Path, bytes, str]]:
    """Yield *each* mutants: the file, its new text, and the change."""
    found = []
    for path in sorted((copy / PACKAGE).glob(files)):
        # C files are read as Latin-1, in which each character is one byte.
        is_c = path.suffix == ".c"
        places = c_places(path.read_text("latin-1")) if is_c else python_places(path.read_text("utf-8"))
        found += [(path, *place) for place in places]
    for path, start, end, put in draw.sample(found, min(each, len(found))):
        before = path.read_bytes()
        after = before[:start] + put.encode() + before[end:]
        line = before.count(b"\n", 0, start)
        old, new = (text.splitlines()[line].decode() for text in (before, after))
        shown = "  ->  ".join(" ".join(text.split()) for text in (old, new))
        yield path, after, f"{path.relative_to(copy / PACKAGE).as_posix()}:{line + 1}: {shown}"


def run(copy: Path, tests: list[str], patience: float, is_c: bool) -> bool:
    """Return whether *tests* pass in *copy* within *patience* seconds, after the kernel is built if *is_c*."""
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    if is_c and subprocess.run(build, cwd=copy, capture_output=True, check=False).returncode:
        return False
    there = [str(path.relative_to(copy)) for name in tests for path in sorted(copy.glob(name))]
    command = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", "-m", "not slow"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(copy)}
    if is_c:
        # Otherwise an extension that differs is not used, and nothing is compared.
        environment["SCRAPY_SIMHASH_KERNEL"] = "native"
    try:
        done = subprocess.run(
            [*command, "--hypothesis-profile", "quick", *there],
            cwd=copy,
            env=environment,
            capture_output=True,
            timeout=patience,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> int:
    """Print a line for each mutant, and for each package the number of mutants that were killed."""
    parser = ArgumentParser("python -m tests.mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", default=list(PACKAGES), metavar="PACKAGE")
    parser.add_argument("--each", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        copy = Path(folder)
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True)
        subprocess.run(["tar", "x", "-C", folder], input=archive.stdout, check=True)
        for built in (ROOT / PACKAGE).rglob("*.so"):
            shutil.copy(built, copy / built.relative_to(ROOT))
        for name in options.packages:
            files, tests = PACKAGES[name]
            is_c = name == "kernel"
            began = monotonic()
            if not run(copy, tests, 600, is_c):
                raise SystemExit(f"the tests of {name} fail without any mutant")
            patience = 3 * (monotonic() - began) + 20
            killed = total = 0
            draw = random.Random(f"{options.seed} {name}")
            for path, text, shown in mutants(copy, files, options.each, draw):
                right = path.read_bytes()
                path.write_bytes(text)
                is_killed = not run(copy, tests, patience, is_c)
                path.write_bytes(right)
                killed, total = killed + is_killed, total + 1
                print(f"{'killed  ' if is_killed else 'survived'} {shown}", flush=True)
            print(f"{name}: {killed} of {total} killed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
