"""OwnParts: own parts by number, without the weight of Python's objects."""

from __future__ import annotations

from array import array

from scrapy_simhash.page.fingerprint import OWN_PART_BYTES

_HEAD_BYTES, _WHOLE_BYTES = OWN_PART_BYTES
_IN_ROW = 1 << 31


class OwnParts:
    """Own parts as bytes, by number: 4 bytes each, and 123 more for those that have a value."""

    def __init__(self) -> None:
        # 0 for none; else the three bytes and one more, or the number of a row.
        self._places = array("I")
        self._rows = bytearray()

    def __setitem__(self, number: int, own: bytes) -> None:
        """Put *own*, empty for nothing, in the place of another, or after the last."""
        if number == len(self._places):
            self._places.append(0)
        former, place = self._places[number], 0
        if len(own) == _WHOLE_BYTES:
            row = former ^ _IN_ROW if former & _IN_ROW else len(self._rows) // _WHOLE_BYTES
            self._rows[row * _WHOLE_BYTES : (row + 1) * _WHOLE_BYTES] = own
            place = _IN_ROW | row
        elif own:
            place = int.from_bytes(own, "big") + 1
        self._places[number] = place

    def __getitem__(self, number: int) -> bytes:
        place = self._places[number]
        if place & _IN_ROW:
            start = (place ^ _IN_ROW) * _WHOLE_BYTES
            return bytes(self._rows[start : start + _WHOLE_BYTES])
        return (place - 1).to_bytes(_HEAD_BYTES, "big") if place else b""
