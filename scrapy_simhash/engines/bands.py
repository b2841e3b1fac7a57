"""Bands: by which keys engines that join tables find the pages that are compared. The only definition.

A crawl looks at all pages within ten bits, which no join can. Engines compare pages that have one of these in common,
within their scope::

    28 bands      16 bins of the sketch, 2 bits each, as one number; a band without a filled bin is none
     1 subject    the words of the subject, as the sketch has them

Two pages with a share *j* of their shingles in common agree in a bin with probability (1 + 2j) / 3, in a band with
the 16th power of it, and in one of the bands with .953 at j = .8, .9967 at .85 and .99999 at .9. Versions of one page,
which may have less in common, have one subject. A shingle falls into any bin alike, so that bands of bins that lie
side by side are as good as any others.

An own part is a page of its own here, with the subject of its page.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import lru_cache
from sys import byteorder
from typing import Any

from scrapy_simhash.engines.tables import KEYS, arrow
from scrapy_simhash.page.fingerprint import MINHASH_BYTES, OwnPart, is_part, number

BANDS = 28
#: Bytes of a band: four bins in each.
_BYTES = MINHASH_BYTES // BANDS
#: In a bucket, which is all pages of a scope with one key, a page is compared with so many that follow it. So buckets
#: of up to 65 pages are compared as a whole.
FOLLOWERS = 64


def bands(minhash: bytes) -> list[int]:
    """Return the 28 numbers of a minhash, 32 bits with a sign; 0 for a band without a filled bin."""
    return [
        int.from_bytes(minhash[start : start + _BYTES], "big", signed=True)
        for start in range(0, MINHASH_BYTES, _BYTES)
    ]


def order_mask(key: int) -> int:
    """Return which low bits of their values the pages of a bucket of the key *key* are sorted by first.

    Of 29 keys each has another number of bits, 63 to 7. So pages that lie far apart in one large bucket are
    neighbours in another one, as long as few of their bits differ.
    """
    return (1 << (63 - 2 * key)) - 1


def keys(batches: Iterator[Any]) -> Iterator[Any]:
    """Return batches of `KEYS` for batches of pages: id, scope, value, sketch, own."""
    pa = arrow()
    scope_number = lru_cache(1_000)(_scope_number)
    for batch in batches:
        ids, scopes, values, subjects = array("q"), array("q"), array("q"), []
        minhashes = bytearray()
        for id, scope, value, sketch, own in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            minhash, subject = sketch[:MINHASH_BYTES], sketch[MINHASH_BYTES:]
            forms = [(value, minhash)]
            if own and is_part(own):
                part = OwnPart.from_bytes(own)
                if part.value:
                    forms.append((signed(part.value), part.minhash))
            for form in forms:
                ids.append(id)
                scopes.append(scope_number(scope))
                values.append(form[0])
                subjects.append(subject if any(subject) else None)
                minhashes += form[1]
        numbers = array("i", bytes(minhashes))
        if byteorder == "little":
            numbers.byteswap()
        columns = [_column(pa.int64(), row) for row in (ids, scopes, values)]
        columns.append(pa.array(subjects, pa.binary()))
        columns += [_column(pa.int32(), numbers[band::BANDS]) for band in range(BANDS)]
        yield pa.RecordBatch.from_arrays(columns, schema=KEYS.arrow())


def signed(value: int) -> int:
    """Return a number of 64 bits with the sign that tables have."""
    return value - (1 << 64) if value >> 63 else value


def unsigned(value: int) -> int:
    """Return the number that signed() was given."""
    return value % (1 << 64)


def _scope_number(scope: str) -> int:
    return signed(number(scope))


def _column(kind: Any, values: array[int]) -> Any:
    pa = arrow()
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
