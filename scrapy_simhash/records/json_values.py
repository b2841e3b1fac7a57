"""JsonValues: the values of a JSON text, one after another, without the whole text in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

#: Characters that are read at once.
CHUNK = 1 << 16
#: Where JSON breaks off so near the end of what was read, more of it may make it right.
_NEAR = 16


class TooLarge(Exception):
    """A record that is larger than what is kept in memory."""


class JsonValues:
    """JSON values, one after another, out of a text that is read as it is needed."""

    def __init__(self, read: Callable[[int], str], limit: int) -> None:
        """*read* returns so many characters at most; a value of more than *limit* of them is too large."""
        self._read = read
        self._limit = limit
        self._text = ""
        self._decode = json.JSONDecoder().raw_decode
        #: Of what comes next.
        self.line = 1

    def next(self) -> str:
        """Return the next character that is no white space, "" at the end, and stay before it."""
        while True:
            text = self._text.lstrip(" \t\n\r")
            self._pass(len(self._text) - len(text))
            if text:
                return text[0]
            self._text = self._read(CHUNK)
            if not self._text:
                return ""

    def mark(self) -> str:
        """Return the next character that is no white space, and pass it."""
        mark = self.next()
        self._pass(len(mark))
        return mark

    def value(self) -> Any:
        """Return the next value, which must not be a number, and pass it.

        Raises ValueError if it is not JSON, and TooLarge.
        """
        while True:
            try:
                value, end = self._decode(self._text)
            except json.JSONDecodeError as error:
                is_cut = error.pos > len(self._text) - _NEAR or error.msg.startswith("Unterminated")
                if is_cut and len(self._text) > self._limit:
                    raise TooLarge from None
                # As much again each time, so that a long one is not begun too often.
                more = self._read(max(CHUNK, len(self._text))) if is_cut else ""
                if not more:
                    raise
                self._text += more
            else:
                self._pass(end)
                return value

    def _pass(self, characters: int) -> None:
        self.line += self._text.count("\n", 0, characters)
        self._text = self._text[characters:]
