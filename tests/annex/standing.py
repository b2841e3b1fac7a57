"""Texts of the annex that stand on pages by themselves."""

from pathlib import Path
from typing import NamedTuple

from magazine.records import Record, read_record

CONTENT = Path(__file__).parent / "content"


class Text(NamedTuple):
    """A title, and what stands below it, one paragraph a line."""

    title: str
    text: str


def read_text(name: str) -> Text:
    """Return the text in `content/<name>.txt`."""
    return as_text(read_record(CONTENT / f"{name}.txt"))


def as_text(record: Record) -> Text:
    """Return title and text of a content file."""
    return Text(record.required("title"), "\n".join(block.text for block in record.blocks))
