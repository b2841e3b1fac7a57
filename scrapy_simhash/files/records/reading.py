"""read(): the pages of any inputs, one after another.

The first bytes tell the kind of a file; the name decides only where these say nothing.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from errno import ENOENT
from glob import glob
from io import BufferedIOBase
from pathlib import Path, PurePath
from stat import S_ISDIR, S_ISREG
from typing import BinaryIO, TypeAlias, cast

from scrapy_simhash.exceptions import FileError, KindError, failing
from scrapy_simhash.files.records.feeds import (
    BYTE_ORDER_MARK,
    NAMES_FOUND,
    Fields,
    csv_rows,
    json_array,
    json_lines,
    parquet_rows,
)
from scrapy_simhash.files.records.folder import Walk, below, html_file, tar_members, zip_members
from scrapy_simhash.files.records.http import cached_pages, is_cache, warc_pages
from scrapy_simhash.files.records.record import (
    BUFFER,
    NOT_HTML,
    Broken,
    BrokenStream,
    Origin,
    PassedOver,
    Record,
    Source,
    decompressed,
    source_of,
)

#: What can be read, for a message.
KINDS = (
    "folders, HTML, JSON Lines, JSON arrays, CSV, Parquet, WARC, WET, Scrapy's HTTP cache (a folder), zip, tar,"
    " and these compressed by gzip, zstd, bz2 or xz"
)

_HTML = re.compile(rb"\s*<(?!svg[\s>])(?:!doctype\s+html|!--|[a-z][a-z0-9]*[\s/>]|\?xml)", re.I)
_XHTML = re.compile(rb"<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)
_JSON_LINES = re.compile(rb'\s*\{\s*(?:"|\}|$)')
_JSON_ARRAY = re.compile(rb"\s*\[\s*(?:[\[{\]\"]|$)")
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
#: Encodings with two bytes a character, which pages of HTML may have.
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def kind_of(head: bytes, name: str) -> str | None:
    r"""Return the kind of a file with these first bytes that is called *name*, None for one that is not known.

    >>> kind_of(b'{"url": "https://example.com/"}\n', "pages.csv"), kind_of(b"\x89PNG\x1a", "boat.html")
    ('jsonlines', None)
    """
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    suffix = PurePath(name).suffix.lower()
    if head[257:262] == b"ustar" or (suffix == ".tar" and head[:1] and head[100:107].strip(b" 0").isdigit()):
        return "tar"
    text = head.removeprefix(BYTE_ORDER_MARK)
    if head.startswith(_WIDE):
        return "html" if b"<" in head and (suffix in HTML_ENDINGS or _is_html(_narrow(head))) else None
    if _is_html(text):
        return "html"
    if _JSON_LINES.match(text):
        return "jsonlines"
    if _JSON_ARRAY.match(text):
        return "json"
    return _by_name(text, suffix)


HTML_ENDINGS = frozenset((".html", ".htm", ".xhtml", ".shtml", ".asp", ".aspx", ".php", ".jsp"))
_TABLE_ENDINGS = frozenset((".csv", ".tsv"))
_MAGIC = (
    (b"WARC/", "warc"),
    (b"PAR1", "parquet"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
)


def _is_html(text: bytes) -> bool:
    match = _HTML.match(text)
    if match is None:
        return False
    # XML is a page only if it says so: a feed or a sitemap is none.
    return not match[0].lstrip().startswith(b"<?xml") or bool(_XHTML.search(text))


def _narrow(head: bytes) -> bytes:
    encoding = "utf-16" if len(head) % 2 == 0 else "utf-16-le"
    return head.decode(encoding, "replace").encode("ascii", "replace")


def _by_name(text: bytes, suffix: str) -> str | None:
    if suffix in HTML_ENDINGS and not _BINARY.search(text):
        return "html"
    first = text.partition(b"\n")[0]
    if _BINARY.search(first):
        return None
    # A first row of names: a table that comes through a pipe has no ending.
    if suffix in _TABLE_ENDINGS or re.search(
        rb"(?:^|[,;\t])\"?(?:url|uri|link)\"?\s*(?:$|[,;\t])", first, re.I
    ):
        return "csv"
    return None


#: The input that stands for standard input.
STDIN = "-"

Input: TypeAlias = "str | Path | BinaryIO"
_Found: TypeAlias = "Iterator[Record | Broken | PassedOver]"


def read(inputs: Sequence[Input], fields: Fields = NAMES_FOUND) -> Records:
    """Return the pages of *inputs*, in the order given: an iterator of Record and Broken.

    An input is a file of any kind, a folder, ``-`` for standard input, a pattern like ``*.html`` where there is no
    such file, or a stream of bytes, which is left open. Kinds are told by content. The same inputs give the same
    records in the same order, so that the number of a record is a position.

    Raises FileError, now, if an input is not there; while it is read FileError if one cannot be opened, and KindError
    if one is of no known kind, or an extra is missing. Whatever is wrong within an input is a Broken.
    """
    return Records(inputs, fields)


class Records(Iterator["Record | Broken"]):
    """The pages of inputs. Read it to its end, or close it."""

    def __init__(self, inputs: Sequence[Input], fields: Fields = NAMES_FOUND) -> None:
        self.passed_over: Counter[str] = Counter()
        """What is no page, by the reason."""
        self.on_passed_over: Callable[[PassedOver], object] = lambda one: None
        """Called for each of them."""
        self._fields = fields
        self._inputs = [one for given in inputs for one in _expanded(given)]
        self._sizes = [_size(name) for name in self._inputs]
        self._at = 0
        self._file: BufferedIOBase | None = None
        self._walk: Walk | None = None
        self._pages = 0
        self._first_without: PassedOver | None = None
        self._all = self._read_all()

    def __next__(self) -> Record | Broken:
        for one in self._all:
            if not isinstance(one, PassedOver):
                self._pages += isinstance(one, Record)
                return one
            self.passed_over[one.reason] += 1
            self.on_passed_over(one)
            if one.names and self._first_without is None:
                self._first_without = one
        raise StopIteration

    def close(self) -> None:
        """Close what is open."""
        self._all.close()

    @property
    def complaint(self) -> str | None:
        """What is wrong if there are records so far, and not one of them has the fields of a page."""
        first = self._first_without
        if first is None or self._pages:
            return None
        names = ", ".join(map(repr, first.names[:20]))
        return f"no record has the fields {self._fields.shown}; {first.place} has {names}"

    def share(self, _: int = 0) -> float | None:
        """Return which share of the inputs was read, 0.0 to 1.0; None for what has no size, as a pipe."""
        if None in self._sizes:
            return None
        sizes = cast("list[int]", self._sizes)
        if self._at >= len(sizes):
            return 1.0
        # Folders do not say how much is in them: then all inputs are as large.
        weights = sizes if all(size >= 0 for size in sizes) else [1] * len(sizes)
        share = sum(weights[: self._at]) + weights[self._at] * self._share_of_this()
        return min(1.0, share / max(1, sum(weights)))

    def _share_of_this(self) -> float:
        if self._walk is not None:
            return self._walk.share
        size = self._sizes[self._at]
        if self._file is None or self._file.closed or not size:
            return 0.0
        return min(1.0, self._file.tell() / size)

    def _read_all(self) -> Generator[Record | Broken | PassedOver]:
        for at, given in enumerate(self._inputs):
            self._at = at
            if not isinstance(given, str):
                yield from self._given(given)
            elif Path(given).is_dir():
                self._walk = Walk(given, is_cache)
                yield from self._folder(Path(given), self._walk)
                self._walk = None
            else:
                path = Path(given).resolve()
                yield from self._named(given, Origin(path.as_uri(), (path.name,)), is_member=False)
        self._at = len(self._inputs)

    def _folder(self, folder: Path, walk: Walk) -> _Found:
        place = folder.resolve()
        root = Origin(place.as_uri(), (), place.name)
        for path in walk:
            if isinstance(path, OSError):
                yield Broken(str(path.filename), f"cannot be read: {path.strerror}", is_rest=True)
            elif path.is_dir():
                yield from cached_pages(str(path))
            else:
                origin = below(root, path.relative_to(folder).as_posix())
                yield from self._named(str(path), origin, is_member=True)

    def _given(self, stream: BinaryIO) -> _Found:
        """Yield what a stream has that is open already."""
        name = getattr(stream, "name", None)
        name = name if isinstance(name, str) else "<stream>"
        self._file = cast(BufferedIOBase, stream)
        yield from self._stream(name, self._file, Origin("file:///stdin", ()), is_member=False)

    def _named(self, name: str, origin: Origin, *, is_member: bool) -> _Found:
        """Yield what the file *name* has; *is_member* tells that nobody named it, but a folder that it is in."""
        try:
            stream = Path(name).open("rb", buffering=BUFFER)  # noqa: SIM115
        except OSError as error:
            if not is_member:
                raise FileError(f"cannot read {name}: {error.strerror or error}") from error
            yield Broken(name, f"cannot be read: {error.strerror or error}", is_rest=True)
            return
        with stream:
            self._file = cast(BufferedIOBase, stream)
            yield from self._stream(name, self._file, origin, is_member)

    def _stream(
        self,
        name: str,
        stream: BufferedIOBase,
        origin: Origin,
        is_member: bool,
        is_packed: bool = False,
    ) -> _Found:
        """Yield the records of a stream, and a Broken where it cannot be read on; *is_packed* is for archives."""
        try:
            yield from self._source(decompressed(source_of(name, stream, origin)), is_member, is_packed)
        except BrokenStream as error:
            yield Broken(name, str(error), is_rest=True)
        except FileError:
            raise
        except OSError as error:
            yield Broken(name, f"cannot be read on: {error.strerror or error}", is_rest=True)

    def _source(self, source: Source, is_member: bool, is_packed: bool) -> _Found:
        name = source.origin.parts[-1] if source.origin.parts else source.name
        kind = kind_of(source.head, name)
        if kind == "html":
            yield html_file(source)
        elif kind == "warc":
            yield from warc_pages(source)
        elif kind == "parquet":
            yield from parquet_rows(source, self._fields)
        elif kind in _FEEDS:
            found = _FEEDS[kind](source, self._fields)
            yield from _of_member(found, source, PurePath(name).suffix.lower()) if is_member else found
        elif kind in _ARCHIVES and not is_packed:
            for member in _ARCHIVES[kind](source):
                if isinstance(member, Broken):
                    yield member
                else:
                    yield from self._stream(
                        member.name, member.stream, member.origin, is_member=True, is_packed=True
                    )
        else:
            yield from self._unknown(source, kind, is_member)

    def _unknown(self, source: Source, kind: str | None, is_member: bool) -> _Found:
        if kind in _ARCHIVES:
            yield PassedOver(source.name, "an archive in an archive")
        elif is_member:
            if source.head:
                yield PassedOver(source.name, NOT_HTML)
        elif source.head:
            raise KindError(f"{source.name}: unknown kind of file; pages are read from {KINDS}")


_FEEDS = {"jsonlines": json_lines, "json": json_array, "csv": csv_rows}
_ARCHIVES = {"zip": zip_members, "tar": tar_members}


def _of_member(found: _Found, source: Source, suffix: str) -> _Found:
    """Yield the records of a feed that a folder or archive has, nothing of what only looks like one.

    A saved site has scripts and answers in JSON.
    """
    if suffix in _FEED_ENDINGS:
        yield from found
        return
    first = next(found, None)
    if isinstance(first, Record):
        yield first
        yield from found
    elif first is not None:
        yield PassedOver(source.name, NOT_HTML)


_FEED_ENDINGS = frozenset((".jsonl", ".jl", ".jsonlines", ".ndjson", ".csv", ".tsv"))


def _expanded(given: Input) -> Iterable[str | BinaryIO]:
    """Return what *given* means: itself, or where no file is called so those that match it as a pattern."""
    if not isinstance(given, str | Path):
        return [given]
    name = os.fspath(given)
    if name == STDIN:
        if sys.stdin is None:
            raise FileError("cannot read standard input: it is closed")
        return [sys.stdin.buffer]
    if os.path.lexists(name):
        return [name]
    # Of pathlib only a folder has a glob.
    found = sorted(glob(name, recursive=True), key=os.fsencode)  # noqa: PTH207
    if not found:
        raise FileError(f"cannot read {name}: {os.strerror(ENOENT)}")
    return found


def _size(given: str | BinaryIO) -> int | None:
    """Return the bytes of a file, -1 for a folder, None for what has no size."""
    with failing(f"read {given}"):
        if isinstance(given, str):
            status = Path(given).stat()
        else:
            try:
                status = os.fstat(given.fileno())
            except (OSError, ValueError):
                return None
    return status.st_size if S_ISREG(status.st_mode) else -1 if S_ISDIR(status.st_mode) else None
