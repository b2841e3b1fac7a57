"""Display of values: rows of a table, HTML in a notebook, terminal-safe text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, Protocol

#: Max characters of a value in a notebook.
MOST = 200
#: Sets no colours, to suit light and dark notebooks.
_LINE = "border-bottom:1px solid #8886;padding:.15em .6em;text-align:left;vertical-align:top"


class Row(Protocol):
    """A value that can be shown as a row of a table."""

    def to_dict(self) -> dict[str, Any]:
        """Return its columns as values that JSON can encode."""
        ...


def to_dicts(values: Iterable[Row] | Mapping[str, Row]) -> list[dict[str, Any]]:
    """Return verdicts, matches or clusters as rows of a table for ``pandas.DataFrame``, in the same order.

    Each row is the result of the value's ``to_dict()``. If *values* is a mapping, its keys are URLs and become the
    first column.

    >>> from scrapy_simhash import Match
    >>> to_dicts([Match(key=7, value=0b1011, distance=1)])
    [{'key': 7, 'fingerprint': '000000000000000b', 'distance': 1}]
    """
    if isinstance(values, Mapping):
        return [{"url": url, **value.to_dict()} for url, value in values.items()]
    return [value.to_dict() for value in values]


def html_of(value: Row) -> str:
    """Return *value* as an escaped HTML table for a notebook; fields that are None are omitted."""
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
    r"""Return *text* with control and bidirectional characters replaced, for terminals and logs.

    >>> printable("a\x1b[2Jb")
    'a?[2Jb'
    """
    return "".join(sign if sign.isprintable() else "?" for sign in text)
