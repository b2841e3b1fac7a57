"""The text format of `content/`: header lines, a blank line, then one paragraph per line group.

title: The Last Wooden Ferry
tags: ferry, winter

First paragraph.

## A heading inside the story

Second paragraph.
"""

from dataclasses import dataclass
from pathlib import Path

CONTENT = Path(__file__).parent / "content"


@dataclass(frozen=True)
class Block:
    """A paragraph, or a heading inside a story."""

    text: str
    is_heading: bool = False


@dataclass(frozen=True)
class Record:
    """One content file, parsed but not yet checked."""

    name: str
    headers: dict[str, str]
    blocks: tuple[Block, ...]

    def required(self, header: str) -> str:
        """Return the value of *header*. Raises ValueError, naming the file, if it is missing or empty."""
        value = self.headers.get(header, "")
        if not value:
            raise ValueError(f"{self.name}: header {header!r} is missing")
        return value

    def listed(self, header: str) -> tuple[str, ...]:
        """Return the comma-separated values of *header*; an absent header gives an empty tuple."""
        return tuple(part.strip() for part in self.headers.get(header, "").split(",") if part.strip())


def read_record(path: Path) -> Record:
    """Read one content file. Raises ValueError if a header line has no colon or there is no text."""
    head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
    headers: dict[str, str] = {}
    for line in head.splitlines():
        name, colon, value = line.partition(":")
        if not colon:
            raise ValueError(f"{path.name}: expected 'name: value', got {line!r}")
        headers[name.strip()] = value.strip()
    blocks = tuple(_block(" ".join(part.split())) for part in body.split("\n\n") if part.strip())
    if not blocks:
        raise ValueError(f"{path.name}: no text after the headers")
    return Record(path.stem, headers, blocks)


def read_records(folder: str) -> list[Record]:
    """Read every file of a folder of `content/`, sorted by file name."""
    return [read_record(path) for path in sorted((CONTENT / folder).glob("*.txt"))]


def read_pairs(name: str, separator: str) -> list[tuple[str, str]]:
    """Read a file of `content/` made of `left <separator> right` lines; blank lines and `#` lines are skipped."""
    pairs = []
    for line in (CONTENT / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            left, found, right = line.partition(separator)
            if not found:
                raise ValueError(f"{name}: expected {separator!r} in {line!r}")
            pairs.append((left.strip(), right.strip()))
    return pairs


def _block(text: str) -> Block:
    return Block(text[3:], is_heading=True) if text.startswith("## ") else Block(text)
