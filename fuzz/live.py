"""Live one life on the C extension and as a scan, and say where they differ.

Of one that is starved, calls of the C extension that fail must have done nothing, or of many values the first ones,
and everything must be given back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from fuzz.life import Life
from scrapy_simhash import kernel
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.index.index import Callbacks
from scrapy_simhash.index.pairs import _pure as pure_pairs
from scrapy_simhash.index.scan import Scan

#: Of several values, so many of the nearest postings are asked for.
NEAREST = 8


def differences(life: Life) -> list[str]:
    """Return what goes wrong in *life*, a line each; empty when nothing does."""
    assert kernel.hamming is not None, f"there is no compiled core: {kernel.REASON}"
    return _starved(life) if life.starved else _compared(life)


def _native(life: Life) -> SimhashIndex:
    index = SimhashIndex(life.max_distance, "auto")
    assert kernel.hamming is not None
    index.core = kernel.hamming.Postings(Callbacks, life.max_distance, list(life.plan), life.row_limit)
    return index


def _scan(life: Life) -> SimhashIndex:
    index = SimhashIndex(life.max_distance, "auto")
    index.core = Scan(life.max_distance)
    return index


def _compared(life: Life) -> list[str]:
    native, scan = _native(life), _scan(life)
    for number, (call, values, keys) in enumerate(life.calls()):
        found = _outcome(partial(_done, native, call, values, keys))
        expected = _outcome(partial(_done, scan, call, values, keys))
        # Of two wrong arguments the scan names the other one.
        if found != expected and not (isinstance(found, str) and isinstance(expected, str)):
            return [f"call {number}, {call}: the C extension has {found}, a scan {expected}"]
        if wrong := _outcome(native._check):
            return [f"after call {number}, {call}: {wrong}"]
    return _not_the_same(native, scan)


def _not_the_same(native: SimhashIndex, expected: SimhashIndex) -> list[str]:
    held, wanted = sorted(native), sorted(expected)
    lines = []
    if held != wanted or len(native) != len(expected):
        lines.append(f"the C extension holds {len(held)} postings, a scan {len(wanted)}, or not the same")
    if native.core.next_key != expected.core.next_key:
        lines.append(
            f"the C extension numbers on from {native.core.next_key}, a scan from {expected.core.next_key}"
        )
    return lines


def _done(index: SimhashIndex, call: str, values: list[Any], keys: list[Any] | None) -> Any:
    """Call the index; return what it answers as plain values."""
    if call == "add_many":
        return index.add_many(values, keys)
    if call == "find_many":
        return list(index.find_many(values))
    if call == "nearest":
        return index.nearest(values, NEAREST)
    if call == "iterate":
        return sorted(index)
    if call == "pairs":
        return _pairs(index)
    (value,), (key,) = values, keys or (None,)
    if call == "in":
        posting: Any = value, key
        return posting in index
    return index.find(value) if call == "find" else getattr(index, call)(value, key)


def _pairs(index: SimhashIndex) -> list[tuple[int, int, int]]:
    if isinstance(index.core, Scan):
        values = sorted({value for value, _ in index})
        return sorted(pure_pairs(values, [0], index.max_distance, lambda share: None))
    return sorted(index.pairs())


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
    known = _scan(life)
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
            if found != expected and not (isinstance(found, str) and isinstance(expected, str)):
                return [f"call {number}, {call}: the C extension has {found}, a scan {expected}"]
        elif call == "add_many":
            # As many as came in before there was no memory.
            for value, key in zip(values, keys or (), strict=True):
                if len(known) == len(native):
                    break
                known.add(value, key)
        wrong = _outcome(native._check)
        if wrong or (is_refused and sorted(native) != sorted(known)):
            return [f"after call {number}, {call}, which was {found}: {wrong or 'not what was stored'}"]
    return [] if sorted(native) == sorted(known) else ["the C extension holds other postings than a scan"]
