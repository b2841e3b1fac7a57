"""The files of a folder and of the folders in it, in an order that is always the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

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
