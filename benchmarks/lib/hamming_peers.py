"""Other Hamming indexes over the same fingerprints in the same run: the part of ``hamming`` behind ``--peers``.

    pip install faiss-cpu gaoya pynear simhash
    python benchmarks/hamming.py --only auto faiss gaoya pynear simhash

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
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import version
from itertools import count
from statistics import median
from time import process_time_ns
from typing import Any, ClassVar

from benchmarks.lib.memory import resident_bytes

#: Fingerprints in one measurement, the median of which counts.
CHUNK = 2_000
#: The nearest neighbours that pynear is asked for.
MOST = 16


class Peer(ABC):
    """What every index of others is made to do."""

    #: What ``pip`` installs.
    distribution: ClassVar[str]
    #: Beyond this it takes too long or too much memory: see the figures below it.
    largest: ClassVar[int] = 1_000_000
    #: Whether it takes fingerprints, so that planted ones can be found.
    takes_fingerprints: ClassVar[bool] = True
    #: Adds a prepared fingerprint under a key; None where nothing can be added to what was built.
    insert: Callable[[Any, int], object] | None = None

    @abstractmethod
    def prepared(self, values: array[int]) -> Sequence[Any]:
        """Return each of *values* as ``query`` and ``insert`` take it."""

    @abstractmethod
    def build(self, values: array[int]) -> None:
        """Store *values* under their positions."""

    @abstractmethod
    def query(self, one: Any) -> Any:
        """Return what is within three bits of a prepared fingerprint, in whatever form."""

    @abstractmethod
    def keys(self, answer: Any) -> Iterable[int]:
        """Return the keys in what ``query`` returned."""


class Faiss(Peer):
    """faiss, through its numpy interface, in one thread."""

    distribution = "faiss-cpu"
    largest = 10_000_000

    def __init__(self) -> None:
        faiss = import_module("faiss")
        faiss.omp_set_num_threads(1)
        self._index = faiss.IndexBinaryMultiHash(64, 4, 16)
        self.insert = lambda one, key: self._index.add(one)

    def prepared(self, values: array[int]) -> Sequence[Any]:
        """Return an array of one row for each."""
        return list(_rows(values).reshape(-1, 1, 8))

    def build(self, values: array[int]) -> None:
        """Add all rows at once."""
        self._index.add(_rows(values))

    def query(self, one: Any) -> Any:
        """Return where the answers begin, the distances and the keys."""
        return self._index.range_search(one, 4)

    def keys(self, answer: Any) -> Iterable[int]:
        """Return the third of them."""
        return map(int, answer[2])


class PyNear(Peer):
    """pynear, which copies what it is given."""

    distribution = "pynear"

    def __init__(self) -> None:
        self._index = import_module("pynear").MIHBinaryIndex(4)

    def prepared(self, values: array[int]) -> Sequence[Any]:
        """Return an array of one row for each."""
        return list(_rows(values).reshape(-1, 1, 8))

    def build(self, values: array[int]) -> None:
        """Set all rows at once."""
        self._index.set(_rows(values))

    def query(self, one: Any) -> Any:
        """Return a list of keys and one of distances for each row."""
        return self._index.searchKNN(one, MOST, 3)

    def keys(self, answer: Any) -> Iterable[int]:
        """Return those of the only row."""
        found: Iterable[int] = answer[0][0]
        return found


class Simhash(Peer):
    """simhash, the best-known one in pure Python."""

    distribution = "simhash"

    def __init__(self) -> None:
        self._module = import_module("simhash")
        logging.getLogger("simhash").setLevel(logging.CRITICAL)
        self._index = self._module.SimhashIndex([], k=3)
        self.insert = lambda one, key: self._index.add(str(key), one)

    def prepared(self, values: array[int]) -> Sequence[Any]:
        """Return a Simhash for each."""
        return [self._module.Simhash(value) for value in values]

    def build(self, values: array[int]) -> None:
        """Add one by one, which is what its constructor does."""
        make = self._module.Simhash
        for key, value in enumerate(values):
            self._index.add(str(key), make(value))

    def query(self, one: Any) -> Any:
        """Return keys as strings."""
        return self._index.get_near_dups(one)

    def keys(self, answer: Any) -> Iterable[int]:
        """Return them as numbers."""
        return map(int, answer)


class Gaoya(Peer):
    """gaoya, each fingerprint a document of one word."""

    distribution = "gaoya"
    takes_fingerprints = False

    def __init__(self) -> None:
        gaoya = import_module("gaoya.simhash")
        self._index = gaoya.SimHashStringIndex(64, 6, 4, "word", False, (1, 1))
        self.insert = lambda one, key: self._index.insert_document(key, one)

    def prepared(self, values: array[int]) -> Sequence[Any]:
        """Return a word for each."""
        return [f"{value:016x}" for value in values]

    def build(self, values: array[int]) -> None:
        """Insert one by one."""
        for key, value in enumerate(values):
            self._index.insert_document(key, f"{value:016x}")

    def query(self, one: Any) -> Any:
        """Return a list of keys."""
        return self._index.query(one)

    def keys(self, answer: Any) -> Iterable[int]:
        """Return it."""
        found: Iterable[int] = answer
        return found


PEERS: dict[str, type[Peer]] = {"faiss": Faiss, "pynear": PyNear, "simhash": Simhash, "gaoya": Gaoya}


def measure(name: str, values: array[int], fresh: array[int], planted: dict[int, int]) -> dict[str, Any]:
    """Return the figures of one peer that holds *values*; or, under ``missing``, why there are none.

    *planted* has, by position in *fresh*, the position in *values* of the one it was made of. Times are microseconds
    a fingerprint: ``build`` the mean, ``query`` and ``insert`` medians of chunks. ``resident`` is the growth of the
    process in bytes a fingerprint.
    """
    try:
        peer = PEERS[name]()
    except Exception as error:  # other people's code: whatever it raises, the rest is measured
        return {"missing": f"{type(error).__name__}: {error}"}
    prepared = peer.prepared(fresh)
    resident = resident_bytes()
    start = process_time_ns()
    peer.build(values)
    build = (process_time_ns() - start) / len(values) / 1e3
    resident = resident_bytes() - resident

    queries, inserts, hits = [], [], 0
    for first, chunk in _chunks(prepared):
        start = process_time_ns()
        answers = [peer.query(one) for one in chunk]
        queries.append((process_time_ns() - start) / len(chunk) / 1e3)
        hits += sum(
            planted.get(number, -1) in set(peer.keys(answer)) for number, answer in enumerate(answers, first)
        )
        if peer.insert is not None:
            start = process_time_ns()
            for key, one in enumerate(chunk, len(values) + first):
                peer.insert(one, key)
            inserts.append((process_time_ns() - start) / len(chunk) / 1e3)
    return {
        "version": f"{peer.distribution} {version(peer.distribution)}",
        "build": build,
        "query": median(queries),
        "insert": median(inserts) if inserts else None,
        "resident": resident / len(values),
        "recall": hits / len(planted) if peer.takes_fingerprints else None,
    }


def _chunks(prepared: Sequence[Any]) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield *prepared* in chunks, each with the position of its first."""
    for first in count(0, CHUNK):
        if first >= len(prepared):
            return
        yield first, prepared[first : first + CHUNK]


def _rows(values: array[int]) -> Any:
    """Return *values* as an array of eight bytes a row, which shares their memory."""
    return import_module("numpy").frombuffer(values, dtype="uint8").reshape(-1, 8)
