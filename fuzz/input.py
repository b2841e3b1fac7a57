"""What a worker reads, whatever it is: it can be written down, and made smaller piece by piece."""

from __future__ import annotations

from abc import ABC, abstractmethod
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

#: Where a worker writes the input it is about to read.
AT_HAND = "at-hand.json"
Same = TypeVar("Same", bound="Input")


class Input(ABC):
    """An input; `Case` is one, and `Life`."""

    @abstractmethod
    def pieces(self) -> list[Any]:
        """Return what may be left out, in order."""

    @abstractmethod
    def with_pieces(self: Same, pieces: list[Any]) -> Same:
        """Return an input of its kind that has only these."""

    @abstractmethod
    def written(self) -> str:
        """Return the whole of it as JSON, in ASCII: whatever the characters, any editor shows it."""

    def write(self, file: Path) -> None:
        """Write the input to a file."""
        file.write_text(self.written(), "ascii")

    def keep(self, folder: Path, name: str) -> Path:
        """Write a reproducer, named by what it holds too; return its file."""
        file = folder / f"{name}-{sha256(self.written().encode()).hexdigest()[:12]}.json"
        self.write(file)
        return file
