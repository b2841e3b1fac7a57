"""OwnParts: own parts by number, without the weight of Python's objects."""

from __future__ import annotations

from array import array

from scrapy_simhash.page.fingerprint import LEAST_BYTES, MOST_BYTES, own_part_length


class OwnParts:
    """Own parts as bytes, by number: 15 bytes each, and 140 more for those longer than eleven."""

    def __init__(self) -> None:
        # How many bytes there are, or, of those that are longer, which row they have.
        self._places = array("I")
        self._short = bytearray()
        self._rows = bytearray()

    def __setitem__(self, number: int, own: bytes) -> None:
        """Put *own*, empty for nothing, in the place of another, or after the last."""
        if number == len(self._places):
            self._places.append(_NOTHING)
            self._short.extend(bytes(LEAST_BYTES))
        former, place = self._places[number], _NOTHING
        if len(own) > LEAST_BYTES:
            row = former - _ROWS if former >= _ROWS else len(self._rows) // MOST_BYTES
            self._rows[row * MOST_BYTES : (row + 1) * MOST_BYTES] = own.ljust(MOST_BYTES, b"\0")
            place = _ROWS + row
        elif own:
            self._short[number * LEAST_BYTES : (number + 1) * LEAST_BYTES] = own
            place = _SHORT
        self._places[number] = place

    def __getitem__(self, number: int) -> bytes:
        place = self._places[number]
        if place >= _ROWS:
            start = (place - _ROWS) * MOST_BYTES
            return bytes(self._rows[start : start + own_part_length(self._rows[start])])
        if place == _NOTHING:
            return b""
        return bytes(self._short[number * LEAST_BYTES : (number + 1) * LEAST_BYTES])


#: What is in the place of an own part; numbers from ``_ROWS`` on are rows.
_NOTHING, _SHORT, _ROWS = range(3)
