"""What there is to fuzz: the reading of pages, the index, and wrong calls."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from fuzz import calls, compare, generate, live, lives
from fuzz.case import Case
from fuzz.life import Life


class Subject(NamedTuple):
    """How inputs are made, read from a file and compared, and which of them count as *covered*."""

    make: Callable[[random.Random], Any]
    read: Callable[[Path], Any]
    differences: Callable[[Any], list[str]]
    is_covered: Callable[[Any], bool]
    #: What came of a run, in words.
    words: str


def _is_covered(case: Case) -> bool:
    root = case.root() if case.kind != "text" else None
    return root is None or compare.is_covered(root)


def _life(dice: random.Random) -> Life:
    return lives.life(dice, is_short_of_memory=live.larder() is not None)


SUBJECTS = {
    "pages": Subject(
        generate.case,
        Case.read,
        compare.differences,
        _is_covered,
        "{cases:,} cases, {covered:,} of them read by the kernel, {found} differences (seed {seed})",
    ),
    "index": Subject(
        _life,
        Life.read,
        live.differences,
        lambda life: not life.starved,
        "{cases:,} lives, {covered:,} of them with all the memory they want, {found} differences (seed {seed})",
    ),
    "objects": Subject(
        calls.script,
        calls.Script.read,
        calls.differences,
        bool,
        "{cases:,} scripts of wrong calls, {found} of them with more than exceptions (seed {seed})",
    ),
}
