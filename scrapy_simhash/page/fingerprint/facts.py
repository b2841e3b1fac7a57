"""Facts as bytes: up to 128 at the end of a sketch, by which verification finds that two pages contradict each other.

As bytes::

    1 byte       number of bytes that follow; 0 for a page without facts
    1 byte       number of words, at most 29
    3 bytes each words, in the order of their hashes: 20 bits of the hash, 4 for the kind
    4 bytes each rows: 1 bit that is set for structured data, 15 for the label, 16 for the value
    1 byte       host: 1 to 255, 0 if unknown; the last byte, because mirrors differ only in the host
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: The place of a word: in the name of the page, which is its heading; in the rest of the title; in a line; in a line
#: with a number, such as a date; in the value of a row. For the first two places: whether the word is also in the URL
#: of the page, and in its sentences. `PLAIN` is a word outside the sentences that is not a fact. `ABOVE` is a line
#: directly above the title, or a link at the title. `SIGNED` is a word of the name with signs, such as C++.
NAME, NAME_IN_URL, NAME_IN_TEXT, NAME_IN_BOTH, TITLE, TITLE_IN_URL = range(6)
LINE, NUMBERED, ROW, PLAIN, ABOVE, SIGNED = range(6, 12)

#: Max words per page, and max facts among them.
MAX_WORDS, MAX_FACTS = 29, 28
#: Max rows of a page, in addition to at most three of structured data.
MAX_ROWS = 4
#: Stored bits of a word's hash.
WORD_BITS = 20
#: The highest bit, which is set for a row of structured data.
STRUCTURED = 0x8000_0000
#: Facts of plain text.
NONE = b"\0"
_KIND_BITS = 4
_WORD_BYTES, _ROW_BYTES = 3, 4
#: Bytes in addition to words and rows: the number of words, and the host.
_BESIDE = 2
_MAX_BYTES = 127


def packed(host: int, words: Mapping[int, int], rows: Iterable[tuple[int, int]] = ()) -> bytes:
    """Return facts as bytes.

    *words* are hashes of `WORD_BITS` bits with their kinds, *rows* are 64-bit hashes of label and value. Both are in
    order of importance; the last ones are left out if they do not fit. O(words log words).
    """
    facts = [word for word, kind in words.items() if kind != PLAIN][:MAX_FACTS]
    others = [word for word, kind in words.items() if kind == PLAIN]
    kept = sorted((facts + others)[:MAX_WORDS])
    data = b"".join([(word << _KIND_BITS | words[word]).to_bytes(_WORD_BYTES, "big") for word in kept])
    values: dict[int, int] = {}
    for label, value in rows:
        # If two labels have the same hash, only the first is kept; otherwise the page would contradict itself.
        values.setdefault(label >> 49, value >> 48)
    numbers = [label << 16 | value for label, value in values.items()][:MAX_ROWS]
    return _with_length(bytes((len(kept),)) + data + _row_bytes(numbers) + bytes((host,)))


def with_rows(facts: bytes, rows: Iterable[int]) -> bytes:
    """Return *facts* with *rows* of structured data, 32-bit numbers; the last are left out if they do not fit."""
    held = facts[1:] or bytes(_BESIDE)
    room = (_MAX_BYTES - len(held)) // _ROW_BYTES * _ROW_BYTES
    return _with_length(held[:-1] + _row_bytes(rows)[:room] + held[-1:])


def is_facts(data: bytes) -> bool:
    """Return whether *data* is well-formed: whether the lengths stored in it add up to its size."""
    if not data or len(data) != 1 + data[0] or len(data) > 1 + _MAX_BYTES:
        return False
    if data[0] < _BESIDE:
        return data[0] == 0
    rest = data[0] - _BESIDE - _WORD_BYTES * data[1]
    return rest >= 0 and rest % _ROW_BYTES == 0


def hashes_of(facts: bytes) -> set[int]:
    """Return the hashes of the words in *facts*, of 20 bits each."""
    ends = range(2 + _WORD_BYTES, 3 + _WORD_BYTES * facts[1], _WORD_BYTES) if facts[0] else ()
    return {int.from_bytes(facts[end - _WORD_BYTES : end], "big") >> _KIND_BITS for end in ends}


def host_of(facts: bytes) -> int:
    """Return the host in *facts*, 1 to 255, or 0 if unknown. Other bytes may follow *facts*."""
    return facts[facts[0]] if facts[0] else 0


def are_one_host(host: int, other_host: int) -> bool:
    """Return whether two pages may be on one host; also true for one in 255 pairs of different hosts."""
    return host == other_host or not host or not other_host


def _with_length(data: bytes) -> bytes:
    return bytes((len(data),)) + data


def _row_bytes(rows: Iterable[int]) -> bytes:
    return b"".join([row.to_bytes(_ROW_BYTES, "big") for row in rows])
