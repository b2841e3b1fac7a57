"""zip and tar: the files in an archive, one after another. Nothing is written to disk."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from io import BufferedIOBase
from typing import BinaryIO, NamedTuple, cast

from scrapy_simhash.files.records.folder import below
from scrapy_simhash.files.records.record import Broken
from scrapy_simhash.files.records.source import BrokenStream, Origin, Source, guarded


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
