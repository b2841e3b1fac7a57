"""Rows of numbers sorted that are too many for the memory: in runs that fit, kept in a file, then merged."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from operator import eq
from pathlib import Path
from tempfile import TemporaryFile
from typing import TypeAlias

from scrapy_simhash.index.files.format import SIZE, ColumnMap

#: Rows sorted at once, which take up to 230 bytes each: 60 megabytes.
RUN = 2**18

#: Numbers side by side: a row has one of each column. A posting is a row of two, value and key.
Columns: TypeAlias = "Sequence[array[int]]"
Run: TypeAlias = "Sequence[memoryview]"
#: Called with how many rows have been done since the last time.
Done: TypeAlias = "Callable[[int], None]"


@contextmanager
def sorted_runs(chunks: Iterable[Columns], folder: Path, done: Done) -> Iterator[list[Run]]:
    """Give each of *chunks* with its rows sorted, kept in an unnamed file in *folder*."""
    with TemporaryFile(dir=folder) as file:
        places: list[list[tuple[int, int]]] = []
        for chunk in chunks:
            places.append([])
            for column in _sorted(chunk):
                places[-1].append((file.tell(), len(column) * SIZE))
                file.write(column)
            done(len(chunk[0]))
        if not places:
            yield []
            return
        file.flush()
        with closing(ColumnMap(file, file.tell())) as columns:
            yield [[columns.column(*place) for place in run] for run in places]


def merged(runs: Sequence[Run], done: Done) -> Iterator[Columns]:
    """Yield the rows of all *runs*, which are sorted, in the order of all, each once.

    What is up to some row is taken from all runs at once, and sorted. Python's sort finds the runs in it, and needs
    half the time of the first sort; a loop over single rows would need ten times as long.
    """
    starts = [0] * len(runs)
    lengths = [len(run[0]) for run in runs]
    step = max(1, RUN // max(1, len(runs)))
    while starts != lengths:
        # Of all rows one step ahead the least: none of the runs has more than a step up to it.
        ahead = [
            _row(run, start + step)
            for run, start, length in zip(runs, starts, lengths, strict=True)
            if start + step < length
        ]
        bound = min(ahead, default=None)
        taken = [array("Q") for _ in runs[0]]
        contributors = 0
        for number, run in enumerate(runs):
            start, end = starts[number], min(starts[number] + step + 1, lengths[number])
            if bound is not None:
                end = bisect_right(range(end), bound, start, key=partial(_row, run))
            for column, whole in zip(taken, run, strict=True):
                column.frombytes(whole[start:end].tobytes())
            contributors += start < end
            starts[number] = end
        yield taken if contributors == 1 else _sorted(taken)
        done(len(taken[0]))


def _row(run: Run, number: int) -> tuple[int, ...]:
    return tuple(column[number] for column in run)


def _sorted(columns: Columns) -> Columns:
    """Return the rows of *columns* sorted, each once.

    As strings of bytes, the most significant first, which have the order of the numbers: half the time of tuples.
    """
    width = len(columns)
    numbers = array("Q", bytes(SIZE * width * len(columns[0])))
    for place, column in enumerate(columns):
        numbers[place::width] = column
    joined = _big_endian(numbers).tobytes()
    size = SIZE * width
    rows = [joined[start : start + size] for start in range(0, len(joined), size)]
    rows.sort()
    if any(map(eq, rows, islice(rows, 1, None))):
        rows = list(dict.fromkeys(rows))
    numbers = _big_endian(array("Q", b"".join(rows)))
    return [numbers[place::width] for place in range(width)]


def _big_endian(numbers: array[int]) -> array[int]:
    """Turn the bytes of each number, in place, so that the most significant leads; or turn them back."""
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers
