"""How values are shown: as rows of a table, as HTML in a notebook, and as text that cannot move a cursor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, Protocol

#: Characters of a value in a notebook. A URL can have thousands.
MOST = 200
#: No colour of its own: text and background are those of the notebook, light or dark.
_LINE = "border-bottom:1px solid #8886;padding:.15em .6em;text-align:left;vertical-align:top"


class Row(Protocol):
    """A value that is a row of a table."""

    def to_dict(self) -> dict[str, Any]:
        """Return its columns, each with a value that JSON has: a string, a number, true, false or None."""
        ...


def to_dicts(values: Iterable[Row] | Mapping[str, Row]) -> list[dict[str, Any]]:
    """Return verdicts, matches or clusters as rows of a table, in their order, as ``pandas.DataFrame`` takes them.

    Each row is what ``to_dict()`` of the value returns. Where *values* is a mapping, its keys are URLs, and the first
    column of each row.

    >>> from scrapy_simhash import Match
    >>> to_dicts([Match(key=7, value=0b1011, distance=1)])
    [{'key': 7, 'fingerprint': '000000000000000b', 'distance': 1}]
    """
    if isinstance(values, Mapping):
        return [{"url": url, **value.to_dict()} for url, value in values.items()]
    return [value.to_dict() for value in values]


def html_of(value: Row) -> str:
    """Return *value* as a small table of HTML for a notebook, without what is None. Nothing in it runs."""
    wrapping = f"{_LINE};overflow-wrap:anywhere"
    rows = "".join(
        f'<tr><th style="{_LINE}">{escape(name)}</th><td style="{wrapping}">{_cell(cell)}</td></tr>'
        for name, cell in value.to_dict().items()
        if cell is not None
    )
    return f'<table style="border-collapse:collapse"><caption>{type(value).__name__}</caption>{rows}</table>'


def _cell(value: object) -> str:
    text = str(value)
    return escape(printable(text if len(text) <= MOST else f"{text[:MOST]}..."))


def printable(text: str) -> str:
    r"""Return *text* without what moves a cursor or turns the direction of the text, whatever a page has put there.

    >>> printable("a\x1b[2Jb")
    'a?[2Jb'
    """
    return "".join(sign if sign.isprintable() else "?" for sign in text)
