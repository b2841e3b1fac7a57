"""Files of pages: find, open and decompress them by their names.

Local files need the standard library only. Other file systems, such as ``s3://``, ``https://`` and ``zip://``, are
those of fsspec.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
from collections.abc import Callable, Iterator, Sequence
from errno import ENOENT
from functools import partial
from glob import glob
from importlib import import_module
from io import BufferedIOBase, BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, Any, NamedTuple, cast
from urllib.parse import quote

from scrapy_simhash.exceptions import FileError, KindError
from scrapy_simhash.files.records.record import BrokenStream, extra

#: Bytes that are read, and decompressed, at once.
BUFFER, STEP = 1 << 18, 1 << 13


class File(NamedTuple):
    """A file that may contain pages."""

    name: str
    """The name for messages: the path or URL, including the path below a given folder."""
    url: str
    """The URL of the page if it is an HTML file."""
    open: Callable[[], IO[bytes]]
    is_member: bool = False
    """Whether it was found in a given folder, not by its name."""


def is_remote(name: str) -> bool:
    """Return whether *name* is a URL of a file system, such as ``s3://bucket/pages.jsonl``, and not a path."""
    return "://" in name


def files_of(given: str) -> Iterator[File]:
    """Yield the files of *given*: a file, a folder with its subfolders, or a pattern.

    Raises FileError if there is none, and KindError if a file system needs a package.
    """
    if is_remote(given):
        yield from _remote_files(given)
        return
    # A file name may look like a pattern.
    for name in [given] if os.path.lexists(given) else sorted(glob(given, recursive=True)):  # noqa: PTH207
        path = Path(name)
        if path.is_dir():
            yield from _below(path)
        else:
            yield _local(path, [path.name])


def check(given: str) -> None:
    """Raise FileError if *given* names no file, KindError if its file system needs a package."""
    if is_remote(given):
        _remote_names(given)
    elif not os.path.lexists(given) and not glob(given, recursive=True):  # noqa: PTH207
        raise FileError(f"cannot read {given}: {os.strerror(ENOENT)}")


def _local(path: Path, parts: Sequence[str], is_member: bool = False) -> File:
    url = (is_member and _of_mirror(parts)) or path.resolve().as_uri()
    return File(str(path), url, lambda: path.open("rb", buffering=BUFFER), is_member)


def _below(folder: Path) -> Iterator[File]:
    """Yield the files of *folder* and its subfolders, sorted by name, files first.

    Hidden files and folders, and links to folders, are left out.
    """
    root = folder.resolve().name

    def failed(error: OSError) -> None:
        raise FileError(f"cannot read {error.filename}: {error.strerror}") from error

    for place, folders, names in os.walk(folder, onerror=failed):
        folders[:] = sorted((name for name in folders if not name.startswith(".")), key=os.fsencode)
        for name in sorted(names, key=os.fsencode):
            path = Path(place, name)
            if not name.startswith(".") and path.is_file():
                yield _local(path, (root, *path.relative_to(folder).parts), is_member=True)


def _remote_names(given: str) -> tuple[Any, str, list[str]]:
    """Return the file system of *given*, the path there, and the names of its files."""
    fsspec = extra("a URL of a file system", "fsspec")
    try:
        system, path = fsspec.core.url_to_fs(given)
        # A page at an https:// URL also counts as a folder of its links.
        is_folder = not system.isfile(path) and system.isdir(path)
        names = system.find(path) if is_folder else system.glob(path) if "*" in path else [path]
        if not names or not (is_folder or system.exists(names[0])):
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT))
    except (ImportError, ValueError) as error:
        raise KindError(f"cannot read {given}: {error}") from error
    # File systems raise errors of their own.
    except Exception as error:
        raise FileError(f"cannot read {given}: {getattr(error, 'strerror', None) or error}") from error
    return system, path, sorted(names)


def _remote_files(given: str) -> Iterator[File]:
    system, path, names = _remote_names(given)
    # In "zip://*.html::pages.zip" the part after "::" belongs to each member.
    _, colons, rest = given.partition("::")
    is_folder = names != [path]
    for name in names:
        parts = name.removeprefix(path).strip("/").split("/")
        shown = system.unstrip_protocol(name) + colons + rest
        url = (is_folder and _of_mirror(parts)) or quote(shown, safe="!$&'()*+,;=:@~?%/#")
        yield File(shown, url, partial(_remote_stream, system, name), is_folder)


def _remote_stream(system: Any, name: str) -> IO[bytes]:
    # Not all of their streams support a size limit for lines.
    return cast("IO[bytes]", BufferedReader(system.open(name, "rb"), BUFFER))


#: Max depth of the folder that is named like a host, counted from the input.
_DEEPEST = 4
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
#: wget writes a port after a plus sign if file names may not contain a colon.
_HOST = re.compile(
    rf"(?:(?:{_LABEL}\.)+[a-z][a-z0-9-]*[a-z0-9]|localhost|(?:\d{{1,3}}\.){{3}}\d{{1,3}})(?:[:+]\d{{1,5}})?",
    re.I,
)
#: The name in a mirror of the page of a URL that ends in a slash, and its query.
_INDEX = re.compile(r"index\.html(?=\?|$)")


def _of_mirror(parts: Sequence[str]) -> str | None:
    """Return the URL of a file in a mirror by wget, where one of the first folders is named like a host.

    >>> _of_mirror(["saved", "example.com", "shop", "index.html?add=1"])
    'https://example.com/shop/?add=1'
    >>> _of_mirror(["saved", "pages", "a.html"])
    """
    folders = parts[:-1][:_DEEPEST]
    hosts = [at for at, part in enumerate(folders) if _HOST.fullmatch(part)]
    if not hosts:
        return None
    # A folder in the input has priority over the input.
    at = next(filter(None, hosts), 0)
    scheme = parts[at - 1] if at and parts[at - 1] in ("http", "https") else "https"
    host = parts[at].lower().replace("+", ":")
    *path, name = parts[at + 1 :]
    # Question marks and percent signs in a name are those of the URL.
    quoted = (
        quote(part, safe="!$&'()*+,;=:@~?%", errors="surrogateescape")
        for part in (*path, _INDEX.sub("", name))
    )
    return f"{scheme}://{host}/{'/'.join(quoted)}"


# --- Compression.


def _zstd() -> Any:
    return extra("zstd data", "compression.zstd", "backports.zstd")


def _gzip() -> Any:
    """Return isal if it is installed; it reads and writes gzip in less than half the time."""
    try:
        return import_module("isal.igzip").IGzipFile
    except ImportError:
        return gzip.GzipFile


def _gzip_writer(stream: Any) -> Any:
    # Half the time of gzip's default level 6; pages become a tenth larger. Without a time, equal pages give equal
    # bytes.
    return _gzip()("", "wb", 3, stream, mtime=0)


def _zstd_writer(stream: Any) -> Any:
    module = _zstd()
    # With a checksum, so that damage is detected.
    return module.open(stream, "wb", options={module.CompressionParameter.checksum_flag: 1})


class Codec(NamedTuple):
    """One kind of compression."""

    name: str
    reader: Callable[[Any], Any]
    """Returns a decompressed stream for a compressed stream."""
    writer: Callable[[Any], Any]
    """Returns a compressing stream that writes to a given stream."""


#: By the ending of a name.
CODECS = {
    ".gz": Codec("gzip", lambda stream: _gzip()(fileobj=stream), _gzip_writer),
    ".zst": Codec("zstd", lambda stream: _zstd().open(stream, "rb"), _zstd_writer),
    ".bz2": Codec("bz2", bz2.BZ2File, partial(bz2.BZ2File, mode="wb")),
    ".xz": Codec("xz", lzma.LZMAFile, partial(lzma.LZMAFile, mode="wb")),
}


def ending_of(name: str) -> tuple[str, str]:
    """Return the ending of a name and the ending of its compression, in lower case.

    >>> ending_of("crawl.warc.GZ"), ending_of("zip://a.html::pages.zip"), ending_of("about")
    (('.warc', '.gz'), ('.html', ''), ('', ''))
    """
    bare = re.split(r"[\\/]", name.partition("::")[0].lower())[-1]
    packed = next((ending for ending in CODECS if bare.endswith(ending)), "")
    bare = bare.removesuffix(packed)
    return bare[bare.rfind(".") :] if "." in bare[1:] else "", packed


def unpacked(stream: Any, name: str) -> BufferedIOBase:
    """Return *stream*, decompressed as the ending of *name* requires.

    Reading it raises BrokenStream, and KindError if an extra is missing.
    """
    codec = CODECS.get(ending_of(name)[1])
    return guarded(codec.reader(stream), codec.name) if codec else cast(BufferedIOBase, stream)


def guarded(stream: Any, kind: str) -> BufferedIOBase:
    """Wrap *stream*, which decompresses data of this *kind*, so that its errors become BrokenStream."""
    # The library has its own class for an ordinary stream.
    return cast(BufferedIOBase, BufferedReader(_Guarded(stream, kind), BUFFER))


class _Guarded(RawIOBase):
    """Decompressed data, with the same error for all libraries. warcio would treat EOFError as the end."""

    def __init__(self, stream: Any, kind: str) -> None:
        self._stream = stream
        self._kind = kind

    def readable(self) -> bool:
        return True

    def readinto(self, target: memoryview) -> int:  # type: ignore[override]
        try:
            # isal reads ahead; data of a step before the damage is lost.
            piece = self._stream.read1(min(len(target), STEP))
        except EOFError:
            raise BrokenStream(f"the {self._kind} data ends too early") from None
        except (BrokenStream, MemoryError):
            raise
        # Each library has its own errors, and untrusted bytes may cause any of them.
        except Exception as error:
            raise BrokenStream(f"the {self._kind} data is damaged: {error}") from None
        target[: len(piece)] = piece
        return len(piece)
