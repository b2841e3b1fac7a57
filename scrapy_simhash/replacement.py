"""Replacement: a file that appears whole or not at all.

It is written beside its place, as ``.<random>.writing``, and takes that place in one step of the file system when all
of it is on the disk. Until then the old file stands as it was, and an error or an interrupt removes the new one.
What is no file, as a pipe, a terminal or /dev/null, is written as it comes.
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
#: Bytes that are written at once.
BUFFER = 1 << 18


@contextmanager
def replacing(path: str, kind: type[FileError] = FileError) -> Iterator[RawIOBase]:
    """Yield a new file, without a buffer, that takes the place of *path* at the end, unless something is raised.

    Raises an error of *kind*, before anything is written, if it cannot be opened, or if it cannot be finished.
    """
    place = Path(path)
    with failing(f"write {path}", kind):
        is_device = place.exists() and not place.is_file()
        device = place.open("wb", buffering=0) if is_device else None
    if device is not None:
        with device:
            yield cast(RawIOBase, device)
        return
    with taking_place(path, kind) as unfinished:
        with failing(f"write {path}", kind):
            raw = unfinished.open("xb", buffering=0)
        with raw:
            yield cast(RawIOBase, raw)
            with failing(f"write {path}", kind):
                os.fsync(raw.fileno())


@contextmanager
def writing(path: str) -> Iterator[IO[bytes]]:
    """Yield a stream into the file at *path*, see `replacing`, or into standard output for ``-``."""
    with _standard_output() if path == STDOUT else replacing(path) as raw:
        stream = BufferedWriter(raw, BUFFER)
        try:
            yield cast("IO[bytes]", stream)
            with failing(f"write {'standard output' if path == STDOUT else path}"):
                stream.flush()
        finally:
            # What could not be written a moment ago cannot be written now.
            with suppress(OSError):
                stream.detach()


@contextmanager
def _standard_output() -> Iterator[RawIOBase]:
    if sys.stdout is None:
        raise FileError("cannot write standard output: it is closed")
    # Past the buffer of sys.stdout, which would try once more at exit to write what could not be written.
    with open(sys.stdout.fileno(), "wb", buffering=0, closefd=False) as raw:
        yield cast(RawIOBase, raw)


@contextmanager
def new_folder(path: str) -> Iterator[Path]:
    """Yield a new folder that becomes *path* at the end, unless something is raised.

    A folder with something in it is never replaced: FileError.
    """
    place = Path(path)
    with failing(f"write {path}"):
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise FileError(f"cannot write {path}: it exists and is not empty, give a new folder")
    with taking_place(path) as unfinished:
        with failing(f"write {path}"):
            unfinished.mkdir()
        yield unfinished


@contextmanager
def taking_place(path: str, kind: type[FileError] = FileError) -> Iterator[Path]:
    """Yield where a file or folder is to be made that takes the place of *path*, unless something is raised.

    What a link leads to is replaced, and a file keeps its mode. The name is random, and in the same folder.
    """
    target = Path(os.path.realpath(path))
    unfinished = target.with_name(f".{os.urandom(8).hex()}.writing")
    try:
        yield unfinished
        with failing(f"write {path}", kind):
            if target.is_dir():
                target.rmdir()
            elif target.exists():
                shutil.copymode(target, unfinished)
            unfinished.replace(target)
    except BaseException:
        # If it was never there, the first error says why.
        with suppress(OSError):
            shutil.rmtree(unfinished) if unfinished.is_dir() else unfinished.unlink()
        raise
