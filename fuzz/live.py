"""Live one life on the compiled core and on the pure one, which is the definition, and say where they differ.

A short life is also lived by a linear scan, which knows no tables. One that is starved is lived by the compiled core
alone: what fails must have done nothing, or of many values the first ones, and everything must be given back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from fuzz.life import BARE, Life
from scrapy_simhash import kernel
from scrapy_simhash.index import LinearScan, Plan, ProbingPlan, pairs
from scrapy_simhash.index.growth import Step, keys_of
from scrapy_simhash.index.index import Door, HammingIndex
from scrapy_simhash.index.pairs import _pure as pure_pairs
from scrapy_simhash.index.plans import key_mask
from scrapy_simhash.index.pure.postings import Postings

#: Leaves of the pure tables, so small that they split.
LEAF_SIZE = 4
#: Acts up to which a life is short; values up to which all pairs are compared each with each.
SHORT, PAIRED = 600, 300
#: Of several values, so many of the nearest postings are asked for.
NEAREST = 8


class Lived(HammingIndex):
    """An index over a core that is given."""

    __slots__ = ("_distance", "plan")

    def __init__(self, core: Postings, max_distance: int, plan: Plan | ProbingPlan | None) -> None:
        """Take what is there; *plan* serves for pairs."""
        self.core, self._distance, self.plan = core, max_distance, plan

    @property
    def max_distance(self) -> int:
        """The greatest distance of a match, in bits."""
        return self._distance


def is_short(life: Life) -> bool:
    """Tell whether a linear scan lives the life too."""
    return len(life.acts) <= SHORT and not life.starved


def differences(life: Life) -> list[str]:
    """Return what goes wrong in *life*, a line each; empty when nothing does."""
    assert kernel.hamming is not None, f"there is no compiled core: {kernel.REASON}"
    was, _ = kernel.hamming.scan_in_use()
    kernel.hamming.use_scan(life.scan)
    try:
        return _starved(life) if life.starved else _compared(life)
    finally:
        kernel.hamming.use_scan(was)


def _native(life: Life) -> Lived:
    plans = life.plans()
    stages = [(upto, [] if plan is None else keys_of(plan)) for upto, plan in plans]
    assert kernel.hamming is not None
    return Lived(kernel.hamming.Postings(Door, life.max_distance, stages), life.max_distance, plans[-1][1])


def _pure(life: Life) -> Lived:
    plans = life.plans()
    steps = [Step(*step) for step in plans]
    return Lived(Postings(life.max_distance, steps, LEAF_SIZE), life.max_distance, plans[-1][1])


def _compared(life: Life) -> list[str]:
    native, pure = _native(life), _pure(life)
    scan = LinearScan(life.max_distance) if is_short(life) else None
    for number, (call, values, keys) in enumerate(life.calls()):
        found = _outcome(partial(_done, native, call, values, keys))
        expected = _outcome(partial(_done, pure, call, values, keys))
        if found != expected:
            return [f"call {number}, {call}: the kernel has {found}, pure Python {expected}"]
        if scan is not None and call not in BARE:
            scanned = _outcome(partial(_done, scan, call, values, keys))
            # Of two wrong arguments it names the other one.
            if scanned != expected and not isinstance(expected, str):
                return [f"call {number}, {call}: both indexes have {expected}, a scan {scanned}"]
        wrong = _outcome(native._check) or (_outcome(pure._check) if scan is not None else None)
        if wrong:
            return [f"after call {number}, {call}: {wrong}"]
    return _not_the_same(native, pure) or [
        f"at the end: {wrong}" for wrong in [_outcome(pure._check)] if wrong
    ]


def _not_the_same(native: Lived, expected: Lived) -> list[str]:
    held, wanted = sorted(native), sorted(expected)
    lines = []
    if held != wanted:
        lines.append(f"the kernel holds {len(held)} postings, pure Python {len(wanted)}, and not the same")
    if (len(native), native.core.values) != (len(expected), expected.core.values):
        lines.append(f"the kernel counts {len(native)} postings, pure Python {len(expected)}")
    if native.core.next_key != expected.core.next_key:
        lines.append(
            f"the kernel numbers on from {native.core.next_key}, pure Python from {expected.core.next_key}"
        )
    return lines


def _done(index: Lived | LinearScan, call: str, values: list[Any], keys: list[Any] | None) -> Any:
    """Call the index; return what it answers as plain values."""
    if call == "add_many":
        return index.add_many(values, keys)
    if call == "find_or_add_many":
        return index.find_or_add_many(values, keys).tolist()
    if call == "find_many":
        return list(index.find_many(values))
    if call == "nearest":
        return index.nearest(values, NEAREST)
    if call == "iterate":
        return sorted(index)
    if call == "pairs":
        assert isinstance(index, Lived)
        return _pairs(index)
    (value,), (key,) = values, keys or (None,)
    if call == "in":
        posting: Any = value, key
        return posting in index
    return index.find(value) if call == "find" else getattr(index, call)(value, key)


def _pairs(index: Lived) -> list[tuple[int, int, int]]:
    values = sorted({value for value, _ in index})
    if isinstance(index.core, Postings):
        plan = index.plan if len(values) > PAIRED else None
        masks = [key_mask(plan.blocks, key) for key in plan.keys] if isinstance(plan, Plan) else [0]
        return sorted(pure_pairs(values, masks, index.max_distance, lambda share: None))
    found = sorted(index.pairs())
    if isinstance(index.plan, Plan) and sorted(pairs(values * 2, index.max_distance, index.plan)) != found:
        raise AssertionError("other pairs with another plan")
    return found


def _outcome(ask: Callable[[], Any]) -> Any:
    """Return the answer, or the error in words: errors must be the same too."""
    try:
        return ask()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


# --- Short of memory.


@cache
def larder() -> ctypes.CDLL | None:
    """Return what decides on memory, which a build for fuzzing has: see ``starve.c``."""
    if kernel.hamming is None or kernel.hamming.__file__ is None:
        return None
    library = ctypes.CDLL(kernel.hamming.__file__)
    return library if hasattr(library, "simhash_starve") else None


def _starved(life: Life) -> list[str]:
    library = larder()
    if library is None:
        return []
    before = library.simhash_blocks()
    lines = _lived_starved(life, library)
    library.simhash_starve(0, 0)
    kept = library.simhash_blocks() - before
    return lines or ([f"{kept} blocks of memory were not given back"] if kept else [])


def _lived_starved(life: Life, library: ctypes.CDLL) -> list[str]:
    known = _pure(life)
    library.simhash_starve(life.starved, life.seed)
    try:
        native = _native(life)
    except MemoryError:
        return []
    for number, (call, values, keys) in enumerate(life.calls()):
        library.simhash_starve(life.starved, (life.seed + number) & 0xFFFFFFFF)
        found = _outcome(partial(_done, native, call, values, keys))
        library.simhash_starve(0, 0)
        is_refused = found == "MemoryError: "
        if not is_refused:
            expected = _outcome(partial(_done, known, call, values, keys))
            if found != expected:
                return [f"call {number}, {call}: the kernel has {found}, pure Python {expected}"]
        elif call in ("add_many", "find_or_add_many"):
            # As many as came in before there was no memory.
            for value, key in zip(values, keys or (), strict=True):
                if len(known) == len(native):
                    break
                known.find_or_add(value, key) if call == "find_or_add_many" else known.add(value, key)
        wrong = _outcome(native._check)
        if wrong or (is_refused and sorted(native) != sorted(known)):
            return [f"after call {number}, {call}, which was {found}: {wrong or 'not what was stored'}"]
    return [] if sorted(native) == sorted(known) else ["the kernel holds other postings than pure Python"]
