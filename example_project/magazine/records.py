"""The text format of `content/`: header lines, a blank line, then paragraphs separated by blank lines.

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
    """One content file."""

    name: str
    headers: dict[str, str]
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """Headings and paragraphs, one per line."""
        return "\n".join(block.text for block in self.blocks)

    def listed(self, header: str, separator: str = ",") -> tuple[str, ...]:
        """Return the values of *header*; empty if the header is missing."""
        return tuple(filter(None, map(str.strip, self.headers.get(header, "").split(separator))))


def read_records(folder: str) -> list[Record]:
    """Read every file of a folder of `content/`, sorted by file name."""
    return [_read(path) for path in sorted((CONTENT / folder).glob("*.txt"))]


def read_pairs(name: str, separator: str = ":") -> list[tuple[str, str]]:
    """Return the pairs in a file of `content/` with lines `left <separator> right`; ignore blank and `#` lines."""
    lines = (CONTENT / name).read_text(encoding="utf-8").splitlines()
    parts = (line.partition(separator) for line in lines if line.strip() and not line.startswith("#"))
    return [(left.strip(), right.strip()) for left, _, right in parts]


def _read(path: Path) -> Record:
    head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
    headers = {
        name.strip(): value.strip() for name, _, value in (line.partition(":") for line in head.splitlines())
    }
    parts = (" ".join(part.split()) for part in body.split("\n\n") if part.strip())
    return Record(
        path.stem, headers, tuple(Block(part.removeprefix("## "), part[:3] == "## ") for part in parts)
    )
