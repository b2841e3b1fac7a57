"""OwnParts: own parts by number, without the weight of Python's objects."""

from __future__ import annotations

from array import array

from scrapy_simhash.page.fingerprint import LEAST_BYTES, MOST_BYTES, own_part_length

_IN_ROW = 1 << 63


class OwnParts:
    """Own parts as bytes, by number: 8 bytes each, and 136 more for those longer than seven."""

    def __init__(self) -> None:
        # 0 for none; else the seven bytes and one more, or the number of a row.
        self._places = array("Q")
        self._rows = bytearray()

    def __setitem__(self, number: int, own: bytes) -> None:
        """Put *own*, empty for nothing, in the place of another, or after the last."""
        if number == len(self._places):
            self._places.append(0)
        former, place = self._places[number], 0
        if len(own) > LEAST_BYTES:
            row = former ^ _IN_ROW if former & _IN_ROW else len(self._rows) // MOST_BYTES
            self._rows[row * MOST_BYTES : (row + 1) * MOST_BYTES] = own.ljust(MOST_BYTES, b"\0")
            place = _IN_ROW | row
        elif own:
            place = int.from_bytes(own, "big") + 1
        self._places[number] = place

    def __getitem__(self, number: int) -> bytes:
        place = self._places[number]
        if place & _IN_ROW:
            start = (place ^ _IN_ROW) * MOST_BYTES
            return bytes(self._rows[start : start + own_part_length(self._rows[start])])
        return (place - 1).to_bytes(LEAST_BYTES, "big") if place else b""
