r"""An index as a file: 32 bytes that never change, a header, columns of numbers.

::

    0         8     12    16           24       28       32         64 * n
    +---------+-----+-----+------------+--------+--------+----------+---------------+-------------+-----
    | magic   | ver | J   | length of  | crc of | crc of | header,  | column of     | column of   | ...
    |         |     |     | the file   | header | 0 - 27 | J bytes  | fingerprints  | keys        |
    +---------+-----+-----+------------+--------+--------+----------+---------------+-------------+-----
    '------------------ preface -------------------------'           '-- sections, 64 * n bytes each --'

The header is JSON: the plan, the counts, and of each section its name, place, length and checksum. Every byte of
the file is under one of the checksums. All numbers are little endian. The reference has it byte by byte.

The errors, all of this module::

    IndexFileError (ValueError)     the file cannot be used; the message says which, why, and what to do
    ├── NotAnIndexFile              it is something else
    ├── DamagedIndexFile            it is cut short, or its bytes have changed
    └── NewerIndexFile              a later version of this package wrote it
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, TypeAlias

from scrapy_simhash.index._arguments import checked_distance, checked_integer
from scrapy_simhash.index.plans.blocks import Block
from scrapy_simhash.index.plans.plan import Plan
from scrapy_simhash.index.plans.probing_plan import ProbingPlan

#: No text begins so. The line ends tell a transfer that changed them, as in PNG.
MAGIC = b"\x89SIMH\r\n\x1a"
FORMAT_VERSION = 1
#: Magic, version, bytes of the header, bytes of the file, checksum of the header, checksum of all before.
PREFACE = struct.Struct("<8sIIQI")
PREFACE_SIZE = PREFACE.size + 4
#: Sections begin at multiples of this, a line of the processor's cache, and are filled up with zeros.
ALIGNMENT = 64
#: Bytes of a number in a column.
SIZE = 8
#: Whether numbers in the file have another byte order than those in memory.
SWAPPED = sys.byteorder == "big"

FilePath: TypeAlias = "str | os.PathLike[str]"
#: What says how an index searches; None for a ``LinearScan``, which has no plan.
Plans: TypeAlias = "Plan | ProbingPlan | None"


class IndexFileError(ValueError):
    """A file that cannot be used as an index."""


class NotAnIndexFile(IndexFileError):
    """A file that was never written by ``save``, or not as bytes."""


class DamagedIndexFile(IndexFileError):
    """A file that lost bytes, or whose bytes have changed."""


class NewerIndexFile(IndexFileError):
    """A file of a format that this version does not know yet."""


@dataclass(frozen=True, slots=True)
class Section:
    """A column in the file: *length* bytes from *offset*, then zeros up to the alignment."""

    name: str
    offset: int
    length: int
    #: Of the column and the zeros.
    crc32: int

    @property
    def end(self) -> int:
        """Where the next section begins."""
        return aligned(self.offset + self.length)


@dataclass(frozen=True, slots=True)
class Header:
    """What a file says about itself. *plan* is None for a ``LinearScan``."""

    max_distance: int
    plan: Plans
    postings: int
    sections: tuple[Section, ...]
    #: The version of this package that wrote the file, for those who look into it.
    writer: str = ""

    def to_bytes(self, size: int = 0) -> bytes:
        """Return the header as it stands in a file: *size* bytes or more, blanks at its end.

        A section can follow at once: with the preface its length is a multiple of the alignment.
        """
        plan: dict[str, Any] = {"kind": "scan", "max_distance": self.max_distance}
        if self.plan is not None:
            plan["blocks"] = [[block.shift, block.width] for block in self.plan.blocks]
        if isinstance(self.plan, Plan):
            plan |= {"kind": "simhash", "keys": self.plan.keys}
        elif isinstance(self.plan, ProbingPlan):
            plan |= {"kind": "probing", "radii": self.plan.radii}
        sections = [
            {"name": section.name, "offset": section.offset, "bytes": section.length, "crc32": section.crc32}
            for section in self.sections
        ]
        text = json.dumps(
            {
                "writer": self.writer,
                "byte_order": "little",
                "postings": self.postings,
                "plan": plan,
                "sections": sections,
            },
            separators=(",", ":"),
        )
        return text.encode("ascii").ljust(max(size, aligned(PREFACE_SIZE + len(text)) - PREFACE_SIZE))

    @classmethod
    def from_bytes(cls, text: bytes) -> Header:
        """Return the header that ``to_bytes`` made *text* of; KeyError, TypeError or ValueError if none did."""
        parsed = json.loads(text)
        sections = tuple(
            Section(
                str(section["name"]),
                *(checked_integer(name, section[name]) for name in ("offset", "bytes", "crc32")),
            )
            for section in parsed["sections"]
        )
        plan = _plan_from(parsed["plan"])
        max_distance = checked_distance(parsed["plan"]["max_distance"])
        return cls(
            max_distance, plan, checked_integer("postings", parsed["postings"]), sections, parsed["writer"]
        )


def preface(text: bytes, length: int) -> bytes:
    """Return the first bytes of a file of *length* bytes whose header is *text*."""
    first = PREFACE.pack(MAGIC, FORMAT_VERSION, len(text), length, zlib.crc32(text))
    return first + zlib.crc32(first).to_bytes(4, "little")


def aligned(offset: int) -> int:
    """Return the first multiple of the alignment from *offset* on.

    >>> aligned(64), aligned(65)
    (64, 128)
    """
    return -(-offset // ALIGNMENT) * ALIGNMENT


class ColumnMap:
    """Columns of 64-bit numbers in a file, without reading it: the system loads what is looked at.

    The file may be closed, and even replaced, meanwhile; it must not be written into or cut.
    """

    def __init__(self, file: BinaryIO, length: int) -> None:
        """Map the first *length* bytes of *file*, one at least."""
        self._map = mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ)
        self.bytes = memoryview(self._map)
        self._views = [self.bytes]

    def column(self, offset: int, length: int) -> memoryview:
        """Return *length* bytes from *offset* on as numbers, readable until ``close``."""
        # An empty view cannot be cast before Python 3.12.
        column = self.bytes[offset : offset + length].cast("Q") if length else memoryview(array("Q"))
        self._views.append(column)
        return column

    def close(self) -> None:
        """Give the map back; its columns cannot be read any more."""
        for view in self._views:
            view.release()
        # The traceback of an interrupt may hold a part of a column: the map then goes with it.
        with suppress(BufferError):
            self._map.close()


class IndexFile:
    """A file that ``save`` or ``merge`` wrote, open for reading; a context manager.

    Raises OSError if *path* cannot be read, and the errors above if it is no such file. *verify* compares all
    checksums, which reads the whole file, a second for some gigabytes; the header is checked in any case.
    """

    def __init__(self, path: FilePath, verify: bool = True) -> None:
        """Open the file at *path*."""
        self.path = os.fspath(path)
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            self.header = _read_header(self.path, file, size)
            self._map = ColumnMap(file, size)  # which needs the file no longer
        if verify:
            try:
                self.verify()
            except BaseException:
                self.close()
                raise

    def __enter__(self) -> IndexFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Return the number of postings."""
        return self.header.postings

    @property
    def names(self) -> list[str]:
        """The names of the columns, in the order of the file."""
        return [section.name for section in self.header.sections]

    def column(self, name: str) -> memoryview:
        """Return the column called *name*, one of ``names``, in the machine's byte order.

        A view of the map, readable until ``close``; on a big-endian machine a copy in memory.
        """
        (section,) = (section for section in self.header.sections if section.name == name)
        column = self._map.column(section.offset, section.length)
        return memoryview(swapped(column)) if SWAPPED else column

    def verify(self) -> None:
        """Compare the checksum of every section, and raise ``DamagedIndexFile`` for one that differs."""
        for section in self.header.sections:
            with self._map.bytes[section.offset : section.end] as whole:
                differs = zlib.crc32(whole) != section.crc32
            if differs:
                raise _damaged(self.path, f"its section {section.name!r} has changed")

    def close(self) -> None:
        """Close the file."""
        self._map.close()


@contextmanager
def replacing(path: FilePath) -> Iterator[tuple[BinaryIO, Path]]:
    """Open a new file for a block that writes it, beside *path*, whose place it takes at the end of the block.

    Gives the file and its folder, which has room for other large files. If the block fails, nothing has changed.
    """
    # Of a link it is the file behind that is replaced.
    target = Path(os.path.realpath(path))
    folder = target.parent
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "not a regular file: an index cannot replace it", str(path))
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder for the index", str(folder))
    temporary = folder / f".{token_hex(8)}.saving"
    try:
        with temporary.open("x+b") as file:
            yield file, folder
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    # The name too must be on the disk. Not all systems open folders, and not all file systems sync them.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def append_section(file: BinaryIO, name: str, chunks: Iterable[array[int]]) -> Section:
    """Write a section of all *chunks* at the place where *file* stands."""
    offset, length, crc = file.tell(), 0, 0
    for chunk in chunks:
        column = swapped(chunk) if SWAPPED else chunk
        file.write(column)
        crc = zlib.crc32(column, crc)
        length += len(column) * SIZE
    zeros = bytes(-length % ALIGNMENT)
    file.write(zeros)
    return Section(name, offset, length, zlib.crc32(zeros, crc))


def read_numbers(file: BinaryIO, count: int, most: int, swap: bool = False) -> Iterator[array[int]]:
    """Yield the next *count* numbers of *file*, at *most* so many at once; *swap* those of another byte order."""
    while count:
        chunk = array("Q")
        chunk.frombytes(file.read(min(count, most) * SIZE))
        count -= len(chunk)
        yield swapped(chunk) if swap else chunk


def swapped(column: memoryview | array[int]) -> array[int]:
    """Return a copy of *column* in the other byte order."""
    copy = array("Q")
    copy.frombytes(column.tobytes())
    copy.byteswap()
    return copy


def _read_header(path: str, file: BinaryIO, size: int) -> Header:
    """Return the header of *file*, which has *size* bytes, after all checks but those of the sections."""
    start = file.read(PREFACE_SIZE)
    if not start or start[: len(MAGIC)] != MAGIC[: len(start)]:
        what = "does not begin like one" if start else "is empty"
        raise NotAnIndexFile(f"{path} is not an index file: it {what}. Give one that save() or merge() wrote")
    if len(start) < PREFACE_SIZE:
        raise _damaged(path, f"it is cut short, {PREFACE_SIZE - len(start)} bytes or more are missing")
    _, version, header_size, length, header_crc = PREFACE.unpack_from(start)
    if zlib.crc32(start[:-4]) != int.from_bytes(start[-4:], "little"):
        raise _damaged(path, f"its first {PREFACE_SIZE} bytes have changed")
    if version > FORMAT_VERSION:
        raise NewerIndexFile(
            f"{path} has format version {version}, and this release of scrapy-simhash reads up to "
            f"{FORMAT_VERSION}: install a later one"
        )
    if size < length:
        raise _damaged(path, f"it is cut short, {length - size} of {length} bytes are missing")
    if size > length:
        raise _damaged(path, f"it has {size - length} bytes more than the {length} that were written")
    text = file.read(header_size)
    if zlib.crc32(text) != header_crc:
        raise _damaged(path, "its header has changed")
    try:
        header = Header.from_bytes(text)
        _check_places(header, PREFACE_SIZE + header_size, length)
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, f"its header has wrong values ({error})") from error
    return header


def _check_places(header: Header, start: int, end: int) -> None:
    """Raise ValueError unless the sections fill the file from *start* to *end*, one after the other."""
    for section in header.sections:
        if section.offset != start or section.length < 0 or section.length % SIZE:
            raise ValueError(f"section {section.name!r} is out of place")
        start = section.end
    lengths = [(section.name, section.length) for section in header.sections[:2]]
    if start != end or lengths != [("values", SIZE * header.postings), ("keys", SIZE * header.postings)]:
        raise ValueError("the sections are not those of the postings")


def _plan_from(parsed: dict[str, Any]) -> Plans:
    """Return the plan that a header describes; it proves itself again. None for a ``LinearScan``."""
    kind = parsed["kind"]
    if kind == "scan":
        return None
    max_distance = checked_distance(parsed["max_distance"])
    blocks = tuple(
        Block(checked_integer("shift", shift), checked_integer("width", width))
        for shift, width in parsed["blocks"]
    )
    if kind == "simhash":
        return Plan(max_distance, blocks, tuple(map(tuple, parsed["keys"])))
    if kind == "probing":
        return ProbingPlan(max_distance, blocks, tuple(parsed["radii"]))
    raise ValueError(f"unknown kind of index: {kind!r}")


def _damaged(path: str, what: str) -> DamagedIndexFile:
    return DamagedIndexFile(f"{path} is damaged: {what}. Copy it again, or save the index anew")
