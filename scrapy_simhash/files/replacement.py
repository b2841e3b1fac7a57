"""Atomic replacement of files.

The new file is written in the same folder, as ``.<random>.writing``, and renamed when it is completely on disk. Until
then the old file is unchanged; after an error or an interrupt the new file is removed. Pipes, terminals and /dev/null
are written directly.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter, RawIOBase
from pathlib import Path
from typing import IO, cast

from scrapy_simhash.exceptions import FileError, failing

#: The path of standard output.
STDOUT = "-"
#: Bytes per write.
BUFFER = 1 << 18


@contextmanager
def replacing(path: str) -> Iterator[RawIOBase]:
    """Yield a new unbuffered file that replaces *path* at the end, unless an exception is raised.

    Raises FileError if the file cannot be opened, or cannot be completed.
    """
    place = Path(path)
    with failing(f"write {path}"):
        is_device = place.exists() and not place.is_file()
        device = place.open("wb", buffering=0) if is_device else None
    if device is not None:
        with device:
            yield cast(RawIOBase, device)
        return
    with taking_place(path) as unfinished:
        with failing(f"write {path}"):
            raw = unfinished.open("xb", buffering=0)
        with raw:
            yield cast(RawIOBase, raw)
            with failing(f"write {path}"):
                os.fsync(raw.fileno())


@contextmanager
def writing(path: str) -> Iterator[IO[bytes]]:
    """Yield a stream to the file at *path*, see `replacing`, or to standard output for ``-``."""
    with _standard_output() if path == STDOUT else replacing(path) as raw:
        stream = BufferedWriter(raw, BUFFER)
        try:
            yield cast("IO[bytes]", stream)
            with failing(f"write {'standard output' if path == STDOUT else path}"):
                stream.flush()
        finally:
            # Do not flush again after a failed write.
            with suppress(OSError):
                stream.detach()


@contextmanager
def _standard_output() -> Iterator[RawIOBase]:
    if sys.stdout is None:
        raise FileError("cannot write standard output: it is closed")
    # Bypass the buffer of sys.stdout, which would retry a failed write at exit.
    with open(sys.stdout.fileno(), "wb", buffering=0, closefd=False) as raw:
        yield cast(RawIOBase, raw)


@contextmanager
def taking_place(path: str) -> Iterator[Path]:
    """Yield the path of a file to create, which replaces *path* at the end unless an exception is raised.

    The path has a random name in the same folder. If the path is a link, its target is replaced. A file keeps its
    mode.
    """
    target = Path(os.path.realpath(path))
    unfinished = target.with_name(f".{os.urandom(8).hex()}.writing")
    try:
        yield unfinished
        with failing(f"write {path}"):
            if target.exists():
                shutil.copymode(target, unfinished)
            unfinished.replace(target)
    except BaseException:
        # The file may not exist; raise the original error.
        with suppress(OSError):
            unfinished.unlink()
        raise
