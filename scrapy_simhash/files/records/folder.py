"""The files of a folder, of a zip and of a tar archive, and the URLs of pages in them.

The URL is that of the site where the folders are those of a mirror, else that of the file.
"""

from __future__ import annotations

import os
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast
from urllib.parse import quote

from scrapy_simhash.files.records.record import (
    LIMIT,
    NOT_HTML,
    TOO_LARGE,
    Broken,
    BrokenStream,
    Origin,
    PassedOver,
    Record,
    Source,
    guarded,
)
from scrapy_simhash.page.text import is_xml_feed

#: What cannot be read of a folder is told by its path and the reason.
Failure = Callable[[str, OSError], None]


class Walk:
    """Yields files, the folders of one folder after its files, each in the order of their names.

    A folder for which *is_whole* is true is yielded as it is. Links to folders are not followed, nor hidden folders
    and files.
    """

    def __init__(self, folder: str, is_whole: Callable[[str], bool]) -> None:
        self._folder = folder
        self._is_whole = is_whole
        #: Of the folders on the way to where it is: how many entries are done, and how many there are.
        self._way: list[tuple[int, int]] = []

    @property
    def share(self) -> float:
        """Which share is done, 0.0 to 1.0, as if all folders beside each other had as much."""
        share, width = 0.0, 1.0
        for done, entries in self._way:
            share += width * done / max(1, entries)
            width /= max(1, entries)
        return share

    def __iter__(self) -> Iterator[Path | OSError]:
        """Yield paths, and an error for each folder that cannot be read."""
        return self._walk(self._folder)

    def _walk(self, folder: str) -> Iterator[Path | OSError]:
        if self._is_whole(folder):
            yield Path(folder)
            return
        try:
            with os.scandir(folder) as found:
                entries = [entry for entry in found if not entry.name.startswith(".")]
            entries.sort(key=lambda entry: (entry.is_dir(follow_symlinks=False), os.fsencode(entry.name)))
        except OSError as error:
            yield error
            return
        for done, entry in enumerate(entries):
            self._way.append((done, len(entries)))
            if entry.is_dir(follow_symlinks=False):
                yield from self._walk(entry.path)
            elif entry.is_file():
                yield Path(entry.path)
            self._way.pop()


#: Folders below the input that may be a host.
_DEEPEST = 3
_SCHEMES = frozenset(("http", "https"))
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
#: wget writes a port after a plus sign where file names may have no colon.
_HOST = re.compile(
    rf"(?:(?:{_LABEL}\.)+[a-z][a-z0-9-]*[a-z0-9]|localhost|(?:\d{{1,3}}\.){{3}}\d{{1,3}})(?:[:+]\d{{1,5}})?",
    re.I,
)


def url_of(origin: Origin) -> str:
    """Return the URL of a page in a file.

    >>> url_of(below(Origin("file:///saved", ()), "example.com/a b.html"))
    'https://example.com/a%20b.html'
    >>> url_of(below(Origin("file:///saved", ()), "pages/a b.html"))
    'file:///saved/pages/a%20b.html'
    """
    return _of_mirror(origin.parts) or _of_mirror((origin.root, *origin.parts)) or origin.url


def below(origin: Origin, name: str) -> Origin:
    """Return where a file lies that is *name*, with slashes, in the folder or archive at *origin*."""
    parts = tuple(part for part in name.split("/") if part not in ("", ".", ".."))
    path = "/".join(quote(part, errors="surrogateescape") for part in parts)
    return Origin(f"{origin.url.rstrip('/')}/{path}", (*origin.parts, *parts), origin.root)


def _of_mirror(parts: Sequence[str]) -> str | None:
    """Return the URL of the file at *parts* if one of the first folders is called like a host."""
    at = next((at for at, part in enumerate(parts[:-1][:_DEEPEST]) if _HOST.fullmatch(part)), None)
    if at is None:
        return None
    scheme = parts[at - 1] if at and parts[at - 1] in _SCHEMES else "https"
    host = parts[at].lower().replace("+", ":")
    # A question mark in a name is that of the URL, and so is a percent sign.
    path = "/".join(
        quote(part, safe="!$&'()*+,;=:@~?%", errors="surrogateescape") for part in parts[at + 1 :]
    )
    # That is what a mirror calls the page of a URL that ends in a slash.
    return f"{scheme}://{host}/{path.removesuffix('index.html') if parts[-1] == 'index.html' else path}"


class PageFile(NamedTuple):
    """Where a page lay in a folder or an archive, for a writer."""

    path: str
    """With slashes, from the input on."""


def html_file(source: Source) -> Record | Broken | PassedOver:
    """Return the page that *source* is."""
    if is_xml_feed(source.head):
        return PassedOver(source.name, NOT_HTML)
    page = source.stream.read(LIMIT + 1)
    if len(page) > LIMIT:
        return Broken(source.name, TOO_LARGE)
    return Record(url_of(source.origin), page, source.name, source=PageFile("/".join(source.origin.parts)))


class Member(NamedTuple):
    """A file in an archive."""

    name: str
    stream: BufferedIOBase
    origin: Origin


def zip_members(source: Source) -> Iterator[Member | Broken]:
    """Yield the files of a zip archive in its order. Memory for the list of its names."""
    if not source.stream.seekable():
        raise BrokenStream("zip can be read from a file only, not through a pipe or compressed")
    top = source.origin._replace(parts=())
    try:
        archive = zipfile.ZipFile(cast(BinaryIO, source.stream))
        infos = archive.infolist()
    # A hostile list of names meets more than BadZipFile.
    except Exception as error:
        raise BrokenStream(f"the zip archive is damaged: {error}") from None
    for info in infos:
        name = f"{source.name}!{info.filename}"
        # A hostile name is empty.
        if not info.filename or info.is_dir():
            continue
        try:
            stream = archive.open(info)
        except Exception as error:
            # An encrypted file, an unknown method of compression, a wrong header: zipfile has an error for each.
            yield Broken(name, f"cannot be unpacked: {error}", is_rest=True)
            continue
        with stream:
            yield Member(name, guarded(stream, "zip"), below(top, info.filename))


def tar_members(source: Source) -> Iterator[Member | Broken]:
    """Yield the files of a tar archive in its order; links and devices are none."""
    top = source.origin._replace(parts=())
    faults: list[str] = []

    class Info(tarfile.TarInfo):
        """A header that tells why the list ends: tarfile takes a damaged one for the end."""

        @classmethod
        def fromtarfile(cls, archive: tarfile.TarFile) -> Info:
            try:
                return super().fromtarfile(archive)
            except tarfile.HeaderError as error:
                # The end as it should be is an error of its own.
                if type(error).__name__ != "EOFHeaderError":
                    faults.append("it ends too early" if "empty" in str(error) else str(error))
                raise

    try:
        # As a stream, which needs no way back.
        archive = tarfile.open(fileobj=source.stream, mode="r|", tarinfo=Info)  # noqa: SIM115
        while (info := archive.next()) is not None:
            # The list of all of them is not kept.
            archive.members.clear()  # type: ignore[attr-defined]
            stream = archive.extractfile(info) if info.isreg() else None
            if stream is not None:
                name = f"{source.name}!{info.name}"
                yield Member(name, guarded(stream, "tar"), below(top, info.name))
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise BrokenStream(f"the tar archive is damaged: {error}") from None
    if faults:
        raise BrokenStream(f"the tar archive is damaged: {faults[0]}")
