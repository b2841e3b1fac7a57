"""Indexes saved to files, loaded, and merged.

Whatever is written goes one way, in memory that does not grow with the index::

    index  -->  runs of 2**18 postings,  -->  the least postings of all  -->  columns of a  -->  takes the place
    or file     each sorted, in an            runs sorted again, equal        new file           of the old file
                unnamed file                  ones dropped

A file is there as a whole or not at all. It is written beside its place, as ``.<random>.saving``, and takes that
place by one step of the file system once all of it is on the disk. An error or an interrupt removes it and leaves
the old file as it was. A process that is killed leaves the old file too, and the half-written one, which may be
deleted.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Protocol, TypeAlias

from scrapy_simhash.index._arguments import MAX_KEY
from scrapy_simhash.index.files import format as file_format
from scrapy_simhash.index.files import sorted_runs as sorting
from scrapy_simhash.index.files.format import (
    PREFACE_SIZE,
    SIZE,
    FilePath,
    Header,
    IndexFile,
    Plans,
    Section,
    append_section,
    preface,
    read_numbers,
    replacing,
)
from scrapy_simhash.index.files.mapped import SearchTable, tables_of
from scrapy_simhash.index.files.sorted_runs import Columns, Run, merged, sorted_runs
from scrapy_simhash.index.index import SimhashIndex
from scrapy_simhash.index.plans.plan import Plan
from scrapy_simhash.index.plans.probing_plan import ProbingPlan
from scrapy_simhash.index.probing import ProbingIndex
from scrapy_simhash.index.progress import Progress, paced
from scrapy_simhash.index.scan import LinearScan

#: Postings loaded at once, at least: half the time of a quarter of it, for a million.
BATCH = 2**20

Growing: TypeAlias = "SimhashIndex | ProbingIndex | LinearScan"


class AnyIndex(Protocol):
    """What can be saved: every index of this package.

    One with a ``plan`` is loaded as an index over this plan, one without as a ``LinearScan``. One with a method
    ``_columns``, which yields pairs of buffers, values and keys as native 64-bit numbers, is read by that and
    not posting by posting.
    """

    @property
    def max_distance(self) -> int:
        """The greatest distance of a match, in bits."""

    def __len__(self) -> int:
        """Return the number of postings."""

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield every posting as (value, key)."""


def save(
    index: AnyIndex, path: FilePath, *, searchable: bool = False, progress: Progress | None = None
) -> None:
    """Write the postings and the plan of *index* to a file, which replaces the one at *path*, if any.

    16 bytes a posting, and 8 more for each table if it is to be *searchable*, that is by ``MappedIndex``. While it
    works it takes 24 bytes a posting more on that disk, and 60 megabytes of memory. O(n log n). Not saved are
    the number that ``add_many`` would give next, and the later plans of ``blocks="auto"``, only the present one.

    Raises OSError if the file cannot be written, and RuntimeError if the index changes meanwhile.

    >>> from tempfile import TemporaryDirectory
    >>> index = SimhashIndex(max_distance=2, blocks=4)
    >>> index.add(0b1011, key=7)
    >>> with TemporaryDirectory() as folder:
    ...     save(index, Path(folder, "pages.simhash"))
    ...     load(Path(folder, "pages.simhash")).find(0b1111)
    [Match(key=7, value=11, distance=1)]
    """
    total = len(index)
    plan = _plan_of(index)
    steps = _Steps(progress, 2 * total * (1 + len(_tables_to_write(plan, searchable))))
    with replacing(path) as (file, folder), sorted_runs(_chunks(index), folder, steps.done) as runs:
        if _write(file, folder, index.max_distance, plan, runs, searchable, steps) != total:
            raise RuntimeError("the index was changed while it was being saved")
    steps.finish()


def load(path: FilePath, *, verify: bool = True, progress: Progress | None = None) -> Growing:
    """Return the index that was saved at *path*: the same kind, plan and postings.

    Raises OSError if the file cannot be read, and IndexFileError if it is no index file, damaged or newer than this
    version. *verify* compares the checksums of all of it; without, damage may go unnoticed.
    """
    with IndexFile(path, verify) as file:
        plan = file.header.plan
        index: Growing
        if isinstance(plan, Plan):
            index = SimhashIndex.from_plan(plan)
        elif isinstance(plan, ProbingPlan):
            index = ProbingIndex.from_plan(plan)
        else:
            index = LinearScan(file.header.max_distance)
        values, keys = file.column("values"), file.column("keys")
        steps = _Steps(progress, len(values))
        start = 0
        while start < len(values):
            # Each batch as great as all before it: lesser ones are inserted one by one.
            end = start + max(BATCH, start)
            index.add_many(values[start:end], keys[start:end])
            steps.done(len(values[start:end]))
            start = end
    steps.finish()
    return index


def update(index: Growing, other: AnyIndex) -> None:
    """Add every posting of *other* to *index*; those that it has already change nothing.

    For a file take ``update(index, load(path))``, or ``merge``. Raises TypeError for a path.

    >>> index, other = SimhashIndex(), SimhashIndex(max_distance=5, blocks=7)
    >>> index.add(0b1011, key=7)
    >>> other.add_many([0b1011, 0b1111], keys=[7, 8])
    >>> update(index, other)
    >>> sorted(index)
    [(11, 7), (15, 8)]
    """
    if isinstance(other, str | PathLike):
        raise TypeError(f"other must be an index, got {other!r}: load() it first")
    for values, keys in _chunks(other):
        index.add_many(values, keys)


def merge(
    sources: Iterable[AnyIndex | FilePath],
    into: FilePath,
    *,
    max_distance: int | None = None,
    searchable: bool = False,
    progress: Progress | None = None,
) -> int:
    """Write every posting of *sources*, files and indexes, to one file, and return how many there are.

    A posting that several have is written once. The plan is that of the first source, or of the first with
    *max_distance*, which must be given if the sources differ in it. Files are not loaded, whatever their size;
    *into* may be one of them. Memory and disk space as for ``save``; O(n log n).

    Raises ValueError if there are no sources, or if it is not clear which distance is wanted, TypeError for a single
    path where there should be a list; else as ``load`` and ``save``.

    >>> from tempfile import TemporaryDirectory
    >>> monday, tuesday = SimhashIndex(), SimhashIndex()
    >>> monday.add_many([0b1011, 0b1111], keys=[7, 8])
    >>> tuesday.add_many([0b1111, 0b1111], keys=[8, 9])
    >>> with TemporaryDirectory() as folder:
    ...     save(monday, Path(folder, "pages.simhash"))
    ...     merge([Path(folder, "pages.simhash"), tuesday], Path(folder, "pages.simhash"))
    ...     sorted(load(Path(folder, "pages.simhash")))
    3
    [(11, 7), (15, 8), (15, 9)]
    """
    if isinstance(sources, str | PathLike):
        raise TypeError(f"sources must be a list of files and indexes, got {sources!r}")
    with replacing(into) as (file, folder), ExitStack() as held:
        opened = [
            held.enter_context(IndexFile(source)) if isinstance(source, str | PathLike) else source
            for source in sources
        ]
        plans = [
            (source.header.max_distance, source.header.plan)
            if isinstance(source, IndexFile)
            else (source.max_distance, _plan_of(source))
            for source in opened
        ]
        distance, plan = _chosen(plans, max_distance)
        total = sum(map(len, opened))
        to_sort = sum(len(source) for source in opened if not isinstance(source, IndexFile))
        steps = _Steps(progress, to_sort + total + 2 * total * len(_tables_to_write(plan, searchable)))
        runs: list[Run] = []
        for source in opened:
            if isinstance(source, IndexFile):
                runs.append((source.column("values"), source.column("keys")))
            else:
                runs += held.enter_context(sorted_runs(_chunks(source), folder, steps.done))
        written = _write(file, folder, distance, plan, runs, searchable, steps)
    steps.finish()
    return written


class _Steps:
    def __init__(self, progress: Progress | None, total: int) -> None:
        self._tell, self._total, self._done = paced(progress), total, 0

    def done(self, count: int) -> None:
        self._done += count
        if self._done < self._total:
            self._tell(self._done / self._total)

    def finish(self) -> None:
        self._tell(1.0)


def _plan_of(index: AnyIndex) -> Plans:
    plan: Plans = getattr(index, "plan", None)
    return plan


def _tables_to_write(plan: Plans, searchable: bool) -> list[SearchTable]:
    return [table for table in tables_of(plan) if searchable and table.name != "values"]


def _chosen(plans: Sequence[tuple[int, Plans]], max_distance: int | None) -> tuple[int, Plans]:
    """Return the first of *plans* with *max_distance*, or the first if all have the same distance."""
    distances = sorted({distance for distance, _ in plans})
    if not distances:
        raise ValueError("nothing to merge: give at least one file or index")
    if max_distance is None and len(distances) > 1:
        raise ValueError(f"max_distance must be given, since the sources have different ones: {distances}")
    wanted = distances[0] if max_distance is None else max_distance
    if wanted not in distances:
        raise ValueError(f"max_distance must be that of one of the sources, {distances}, got {wanted}")
    return next(plan for plan in plans if plan[0] == wanted)


# --- Writing.


def _write(
    file: BinaryIO,
    folder: Path,
    max_distance: int,
    plan: Plans,
    runs: Sequence[Run],
    searchable: bool,
    steps: _Steps,
) -> int:
    """Write the postings of *runs* to an empty *file*, and return how many there are."""
    tables = _tables_to_write(plan, searchable)
    writer = _version()
    # The header comes first and is known last: leave room for the widest numbers.
    names = ("values", "keys", *(table.name for table in tables))
    widest = tuple(Section(name, MAX_KEY, MAX_KEY, 2**32 - 1) for name in names)
    room = len(Header(max_distance, plan, MAX_KEY, widest, writer).to_bytes())
    file.seek(PREFACE_SIZE + room)
    with TemporaryFile(dir=folder) as keys:
        values = append_section(file, "values", _without_keys(merged(runs, steps.done), keys))
        postings = values.length // SIZE
        keys.seek(0)
        sections = [values, append_section(file, "keys", read_numbers(keys, postings, sorting.RUN))]
    for table in tables:
        file.seek(values.offset)
        numbers = read_numbers(file, postings, sorting.RUN, file_format.SWAPPED)
        permuted = ([table.permutation.permute_all(chunk)] for chunk in numbers)
        with sorted_runs(permuted, folder, steps.done) as permuted_runs:
            file.seek(sections[-1].end)
            column = (column for (column,) in merged(permuted_runs, steps.done))
            sections.append(append_section(file, table.name, column))
    header = Header(max_distance, plan, postings, tuple(sections), writer).to_bytes(room)
    file.seek(0)
    file.write(preface(header, sections[-1].end) + header)
    return postings


def _without_keys(postings: Iterable[Columns], keys_file: BinaryIO) -> Iterator[array[int]]:
    """Yield the values of *postings*; the keys go to *keys_file*, since their section comes later."""
    for values, keys in postings:
        keys_file.write(keys)
        yield values


def _version() -> str:
    # Only here: it takes longer to import than all that searches.
    from importlib import metadata

    try:
        return metadata.version("scrapy-simhash")
    except metadata.PackageNotFoundError:  # a copy of the sources that was not installed
        return ""


# --- Reading an index.


def _chunks(index: AnyIndex) -> Iterator[Columns]:
    """Yield the postings of *index* in columns of ``sorted_runs.RUN`` or so, in no promised order."""
    offered = getattr(index, "_columns", None)
    if offered is None:
        postings = iter(index)
        while rows := array("Q", chain.from_iterable(islice(postings, sorting.RUN))):
            yield [rows[0::2], rows[1::2]]
        return
    values, keys = array("Q"), array("Q")
    for buffers in offered():
        parts = [memoryview(buffer) for buffer in buffers]
        for start in range(0, parts[0].nbytes, sorting.RUN * SIZE):
            for column, part in zip((values, keys), parts, strict=True):
                column.frombytes(part.cast("B")[start : start + sorting.RUN * SIZE])
            if len(values) >= sorting.RUN:
                yield values, keys
                values, keys = array("Q"), array("Q")
    if values:
        yield values, keys
