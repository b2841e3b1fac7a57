"""Other Hamming indexes over the same fingerprints in the same run: the part of ``index`` behind ``--peers``.

    pip install faiss-cpu gaoya pynear simhash
    python benchmarks/index.py --only auto faiss gaoya pynear simhash

Each is asked for all fingerprints within three bits, then told the new one, in one call from Python each. What it
takes instead of a number (a row of numpy, an object, a string) is made before the clock runs: its search is
measured, not the conversion. The loop around the calls, some 30 ns, is in the figures. The key of a fingerprint is
its position.

* faiss: ``IndexBinaryMultiHash``, four hash maps of 16 bits. Its radius is exclusive: 4 asks for 3.
* pynear: ``MIHBinaryIndex(4)``, built once from all fingerprints; nothing can be added. It answers with the nearest
  ``MOST``, which are all within three bits unless there are more.
* simhash: ``SimhashIndex(k=3)``, four dicts of sets of strings.
* gaoya: ``SimHashStringIndex`` with 6 blocks. Its distance is exclusive: 4 asks for 3. It takes text only and keeps
  its fingerprints to itself: each of ours is one word, whose hash it indexes. So there is nothing planted to find,
  and a search finds a word it has or nothing.
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.metadata import version
from statistics import median
from time import process_time_ns
from typing import Any, NamedTuple

from benchmarks.lib.processes import resident_bytes, timed

#: Fingerprints in one measurement, the median of which counts.
CHUNK = 2_000
#: The nearest neighbours that pynear is asked for.
MOST = 16


class Peer(NamedTuple):
    """What an index of others is made to do."""

    distribution: str
    """What ``pip`` installs."""
    prepare: Callable[[array[int]], list[Any]]
    """Return each fingerprint as *query* and *insert* take it."""
    build: Callable[[array[int]], object]
    """Store fingerprints under their positions."""
    query: Callable[[Any], Any]
    """Return what is within three bits of a prepared fingerprint, in whatever form."""
    keys: Callable[[Any], Iterable[Any]]
    """Return the keys in what *query* returned."""
    insert: Callable[[Any, int], object] | None
    """Add a prepared fingerprint under a key; None where nothing can be added to what was built."""
    takes_fingerprints: bool = True
    """Whether planted ones can be found."""


def _faiss() -> Peer:
    faiss = import_module("faiss")
    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryMultiHash(64, 4, 16)
    return Peer(
        "faiss-cpu",
        lambda values: list(_rows(values).reshape(-1, 1, 8)),
        lambda values: index.add(_rows(values)),
        lambda one: index.range_search(one, 4),
        lambda answer: map(int, answer[2]),
        lambda one, key: index.add(one),
    )


def _pynear() -> Peer:
    index = import_module("pynear").MIHBinaryIndex(4)
    return Peer(
        "pynear",
        lambda values: list(_rows(values).reshape(-1, 1, 8)),
        lambda values: index.set(_rows(values)),
        lambda one: index.searchKNN(one, MOST, 3),
        lambda answer: answer[0][0],
        None,
    )


def _simhash() -> Peer:
    module = import_module("simhash")
    logging.getLogger("simhash").setLevel(logging.CRITICAL)
    index = module.SimhashIndex([], k=3)
    return Peer(
        "simhash",
        lambda values: [module.Simhash(value) for value in values],
        lambda values: [index.add(str(key), module.Simhash(value)) for key, value in enumerate(values)],
        index.get_near_dups,
        lambda answer: map(int, answer),
        lambda one, key: index.add(str(key), one),
    )


def _gaoya() -> Peer:
    index = import_module("gaoya.simhash").SimHashStringIndex(64, 6, 4, "word", False, (1, 1))
    return Peer(
        "gaoya",
        lambda values: [f"{value:016x}" for value in values],
        lambda values: [index.insert_document(key, f"{value:016x}") for key, value in enumerate(values)],
        index.query,
        lambda answer: answer,
        lambda one, key: index.insert_document(key, one),
        takes_fingerprints=False,
    )


PEERS: dict[str, Callable[[], Peer]] = {
    "faiss": _faiss,
    "pynear": _pynear,
    "simhash": _simhash,
    "gaoya": _gaoya,
}


def measure(name: str, values: array[int], fresh: array[int], planted: dict[int, int]) -> dict[str, Any]:
    """Return the figures of one peer that holds *values*; or, under ``missing``, why there are none.

    *planted* has, by position in *fresh*, the position in *values* of the one it was made of. Times are microseconds
    a fingerprint: ``growing`` the mean, ``find`` and ``insert`` medians of chunks. ``resident`` is the growth of the
    process in bytes a fingerprint.
    """
    try:
        peer = PEERS[name]()
    except Exception as error:  # other people's code: whatever it raises, the rest is measured
        return {"missing": f"{type(error).__name__}: {error}"}
    prepared = peer.prepare(fresh)
    resident = resident_bytes()
    _, build = timed(lambda: peer.build(values))
    resident = resident_bytes() - resident
    queries, inserts, hits = [], [], 0
    for first in range(0, len(prepared), CHUNK):
        chunk = prepared[first : first + CHUNK]
        answers, time = timed(lambda: [peer.query(one) for one in chunk])  # noqa: B023
        queries.append(time / len(chunk) / 1e3)
        hits += sum(
            planted.get(number, -1) in set(peer.keys(answer)) for number, answer in enumerate(answers, first)
        )
        if peer.insert is not None:
            start = process_time_ns()
            for key, one in enumerate(chunk, len(values) + first):
                peer.insert(one, key)
            inserts.append((process_time_ns() - start) / len(chunk) / 1e3)
    return {
        "version": version(peer.distribution),
        "growing": build / len(values) / 1e3,
        "find": median(queries),
        "insert": median(inserts) if inserts else None,
        "resident": resident / len(values),
        "recall": hits / len(planted) if peer.takes_fingerprints else None,
    }


def _rows(values: array[int]) -> Any:
    """Return *values* as an array of eight bytes a row, which shares their memory."""
    return import_module("numpy").frombuffer(values, dtype="uint8").reshape(-1, 8)
