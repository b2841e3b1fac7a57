"""Display of values: rows of a table, terminal-safe text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol


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


def printable(text: str) -> str:
    r"""Return *text* with control and bidirectional characters replaced, for terminals and logs.

    >>> printable("a\x1b[2Jb")
    'a?[2Jb'
    """
    return "".join(sign if sign.isprintable() else "?" for sign in text)
