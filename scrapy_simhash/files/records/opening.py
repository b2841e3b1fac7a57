"""Files of pages: find and open them, and decompress them according to the file extension.

Local files need only the standard library. Other file systems, such as ``s3://``, ``https://`` and ``zip://``, need
fsspec.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from errno import ENOENT
from functools import partial
from glob import glob
from importlib import import_module
from io import BufferedReader, RawIOBase
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, cast
from urllib.parse import quote

from scrapy_simhash.exceptions import FileError, KindError
from scrapy_simhash.files.records.record import BrokenStream, extra

#: Bytes per read, and per decompression.
BUFFER, STEP = 1 << 18, 1 << 13
#: Characters of a path that need no escaping in a URL.
_SAFE = "!$&'()*+,;=:@~?%"


class File(NamedTuple):
    """A file that may contain pages."""

    name: str
    """The name for messages: the path or URL, including the path below a given folder."""
    url: str
    """The URL of the page if it is an HTML file."""
    open: Callable[[], Any]
    """Returns a context manager with a stream of bytes."""
    is_member: bool = False
    """Whether the file was found in a given folder, rather than by its name."""


def is_remote(name: str) -> bool:
    """Return whether *name* is a URL of a file system, such as ``s3://bucket/pages.jsonl``, and not a path."""
    return "://" in name


def files_of(given: str) -> Iterator[File]:
    """Return the files of *given*: a file, a folder with its subfolders, or a pattern.

    Raises FileError at once if no file is found, and KindError if a file system needs a package.
    """
    if is_remote(given):
        return _remote_files(given)
    # A file name may look like a pattern.
    names = [given] if os.path.lexists(given) else sorted(glob(given, recursive=True))  # noqa: PTH207
    if not names:
        raise FileError(f"cannot read {given}: {os.strerror(ENOENT)}")
    return chain.from_iterable(map(_local_files, names))


def _local_files(name: str) -> Iterator[File]:
    """Yield a file, or the files of a folder and its subfolders, sorted by name, files first.

    Hidden files and folders, and links to folders, are left out.
    """
    given = Path(name)
    if not given.is_dir():
        yield _local(given, given.resolve().as_uri())
        return
    root = given.resolve().name

    def failed(error: OSError) -> None:
        raise FileError(f"cannot read {error.filename}: {error.strerror}") from error

    for place, folders, names in os.walk(given, onerror=failed):
        folders[:] = sorted((name for name in folders if not name.startswith(".")), key=os.fsencode)
        for name in sorted(names, key=os.fsencode):
            path = Path(place, name)
            if not name.startswith(".") and path.is_file():
                url = _of_mirror([root, *path.relative_to(given).parts]) or path.resolve().as_uri()
                yield _local(path, url, is_member=True)


def _local(path: Path, url: str, *, is_member: bool = False) -> File:
    return File(str(path), url, partial(path.open, "rb", buffering=BUFFER), is_member)


def _remote_files(given: str) -> Iterator[File]:
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
    # Each file system raises different exceptions.
    except Exception as error:
        raise FileError(f"cannot read {given}: {getattr(error, 'strerror', None) or error}") from error
    # In "zip://*.html::pages.zip" the part after "::" belongs to each member.
    _, colons, rest = given.partition("::")
    is_member = names != [path]

    def file(name: str) -> File:
        shown = system.unstrip_protocol(name) + colons + rest
        mirrored = _of_mirror(name.removeprefix(path).strip("/").split("/")) if is_member else None
        url = mirrored or quote(shown, safe=f"{_SAFE}/#")
        return File(shown, url, partial(_remote_stream, system, name), is_member)

    return map(file, sorted(names))


def _remote_stream(system: Any, name: str) -> IO[bytes]:
    # Buffered, because some fsspec streams do not support a size limit in readline().
    return cast("IO[bytes]", BufferedReader(system.open(name, "rb"), BUFFER))


#: Max depth of the folder that is named like a host, counted from the input.
_DEEPEST = 4
#: wget writes a port after a plus sign if file names may not contain a colon.
_HOST = re.compile(
    r"(?:(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]|localhost|(?:\d{1,3}\.){3}\d{1,3})"
    r"(?:[:+]\d{1,5})?",
    re.IGNORECASE,
)
#: The file name that wget gives a page whose URL ends in a slash, before a query if there is one.
_INDEX = re.compile(r"index\.html(?=\?|$)")


def _of_mirror(parts: Sequence[str]) -> str | None:
    """Return the URL of a file in a mirror by wget, where one of the first folders is named like a host.

    >>> _of_mirror(["saved", "example.com", "shop", "index.html?add=1"])
    'https://example.com/shop/?add=1'
    >>> _of_mirror(["saved", "pages", "a.html"])
    """
    hosts = [at for at, part in enumerate(parts[:-1][:_DEEPEST]) if _HOST.fullmatch(part)]
    if not hosts:
        return None
    # A host in the name of a subfolder has priority over a host in the name of the input.
    at = next(filter(None, hosts), 0)
    scheme = parts[at - 1] if at and parts[at - 1] in ("http", "https") else "https"
    path = [*parts[at + 1 : -1], _INDEX.sub("", parts[-1])]
    # Question marks and percent signs in a file name come from the URL.
    quoted = (quote(part, safe=_SAFE, errors="surrogateescape") for part in path)
    return f"{scheme}://{parts[at].lower().replace('+', ':')}/{'/'.join(quoted)}"


# --- Compression.


def _gzip(stream: Any, mode: str) -> Any:
    """Use isal if it is installed, because it takes less than half the time."""
    try:
        kind = import_module("isal.igzip").IGzipFile
    except ImportError:
        kind = gzip.GzipFile
    # Level 3 takes half the time of gzip's usual level 6, and the output is a tenth larger. With mtime=0, equal pages
    # give equal bytes.
    return kind("", mode, 3, stream, mtime=0)


def _zstd(stream: Any, mode: str) -> Any:
    module = extra("zstd data", "compression.zstd", "backports.zstd")
    # Add a checksum, so that damage is detected.
    options = {module.CompressionParameter.checksum_flag: 1} if mode == "wb" else None
    return module.open(stream, mode, options=options)


#: Opens a stream that decompresses ("rb") or compresses ("wb") another stream.
Codec: TypeAlias = "Callable[[Any, str], Any]"
#: Compression by file extension.
CODECS: Mapping[str, Any] = {
    ".gz": _gzip,
    ".zst": _zstd,
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}


def ending_of(name: str) -> tuple[str, str]:
    """Return the file extension of a name and the extension of its compression, in lower case.

    >>> ending_of("crawl.warc.GZ"), ending_of("zip://a.html::pages.zip"), ending_of("about")
    (('.warc', '.gz'), ('.html', ''), ('', ''))
    """
    bare = re.split(r"[\\/]", name.partition("::")[0].lower())[-1]
    packed = next((ending for ending in CODECS if bare.endswith(ending)), "")
    bare = bare.removesuffix(packed)
    return bare[bare.rfind(".") :] if "." in bare[1:] else "", packed


def unpacked(stream: Any, name: str) -> Any:
    """Return *stream*, decompressed according to the file extension of *name*.

    Reading it raises BrokenStream, and KindError if an extra is missing.
    """
    packed = ending_of(name)[1]
    return guarded(CODECS[packed](stream, "rb"), packed.removeprefix(".")) if packed else stream


def guarded(stream: Any, kind: str) -> Any:
    """Wrap *stream*, which decompresses data of this *kind*, so that its errors become BrokenStream."""
    return BufferedReader(_Guarded(stream, kind), BUFFER)


class _Guarded(RawIOBase):
    """Decompressed data, with the same error for all libraries. To warcio, EOFError would mean the end."""

    def __init__(self, stream: Any, kind: str) -> None:
        self._stream = stream
        self._kind = kind

    def readable(self) -> bool:
        return True

    def readinto(self, target: memoryview) -> int:  # type: ignore[override]
        try:
            # isal reads ahead, so data before the damage may be lost.
            piece = self._stream.read1(min(len(target), STEP))
        except EOFError:
            raise BrokenStream(f"the {self._kind} data ends too early") from None
        except (BrokenStream, MemoryError):
            raise
        # Each library raises different errors, and untrusted bytes may cause any of them.
        except Exception as error:
            raise BrokenStream(f"the {self._kind} data is damaged: {error}") from None
        target[: len(piece)] = piece
        return len(piece)
