"""OwnParts: the own parts of contents, by number, without the weight of Python's objects."""

from __future__ import annotations

from array import array

from scrapy_simhash.page.fingerprint import OWN_PART_BYTES

_HEAD_BYTES, _WHOLE_BYTES = OWN_PART_BYTES
_IN_ROW = 1 << 31


class OwnParts:
    """Own parts as bytes, of contents that come in order: 4 bytes each, and 123 more for those that have a value."""

    def __init__(self) -> None:
        # 0 for none; else the three bytes and one more, or the number of a row.
        self._places = array("I")
        self._rows = bytearray()

    def append(self, own: bytes) -> None:
        """Add what the next content has, empty for nothing."""
        place = 0
        if len(own) == _WHOLE_BYTES:
            place = _IN_ROW | len(self._rows) // _WHOLE_BYTES
            self._rows += own
        elif own:
            place = int.from_bytes(own, "big") + 1
        self._places.append(place)

    def __getitem__(self, content: int) -> bytes:
        place = self._places[content]
        if place & _IN_ROW:
            start = (place ^ _IN_ROW) * _WHOLE_BYTES
            return bytes(self._rows[start : start + _WHOLE_BYTES])
        return (place - 1).to_bytes(_HEAD_BYTES, "big") if place else b""
