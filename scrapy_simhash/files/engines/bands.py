"""Bands: by which keys engines that join tables find the pages that they compare. The only definition.

A crawl looks at all pages within ten bits, which no join can. Engines compare pages that share one of these keys,
within their scope::

    28 bands      16 bins of the sketch, 2 bits each: a number of 32 bits; 0 for no filled bin, which is no key
     1 subject    the hash of the words of the subject, as the sketch has them; 0 for none

Of two pages that share a part *j* of their shingles, a bin is equal with probability (1 + 2j) / 3, a band with the
16th power of that, and one band of 28 with .95 at j = .8, .997 at .85 and .99999 at .9. Versions of one page, which
may share less, have one subject. A shingle falls into any bin alike, so that bins that lie side by side are as good
as any others. An own part has keys as a page has, with the subject of its page.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import lru_cache
from sys import byteorder
from typing import Any

from xxhash import xxh3_64_intdigest

from scrapy_simhash.files.engines.tables import BANDS, KEYS, arrow, rows_of
from scrapy_simhash.page.fingerprint import MINHASH_BYTES, OwnPart, is_part, number
from scrapy_simhash.store.sqlite.schema import signed

#: The columns of `KEYS` that are keys.
KEY_COLUMNS = (*(f"band{band}" for band in range(BANDS)), "subject")
#: A bucket is all pages of a scope that share a key. In their order each is compared with so many that follow it, so
#: that buckets of up to 65 pages are compared as a whole.
FOLLOWERS = 64


def order_mask(key: int) -> int:
    """Return the low bits of their values by which the pages of a bucket of this key, 0 to 28, are sorted first.

    Each key has another number of bits, 63 to 7. So pages that are far apart in one large bucket may be neighbours in
    another, if few of their bits differ.
    """
    return (1 << (63 - 2 * key)) - 1


def keys(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches of `KEYS` for batches of pages: id, scope, value, sketch, own."""
    pa = arrow()
    scope_number = lru_cache(1_000)(_scope_number)
    for batch in batches:
        ids, scopes, values, subjects = array("q"), array("q"), array("q"), array("q")
        minhashes = bytearray()
        for id, scope, value, sketch, own in rows_of(batch):
            words = sketch[MINHASH_BYTES:]
            subject = signed(xxh3_64_intdigest(words)) if any(words) else 0
            forms = [(value, sketch[:MINHASH_BYTES])]
            if is_part(own):
                part = OwnPart.from_bytes(own)
                # Of one that is too short for a value, nothing is found by its text.
                if part.value:
                    forms.append((signed(part.value), part.minhash))
            for its_value, minhash in forms:
                ids.append(id)
                scopes.append(scope_number(scope))
                values.append(its_value)
                subjects.append(subject)
                minhashes += minhash
        bands = array("i", bytes(minhashes))
        if byteorder == "little":
            bands.byteswap()
        columns = [_column(pa.int64(), row) for row in (ids, scopes, values, subjects)]
        columns += [_column(pa.int32(), bands[band::BANDS]) for band in range(BANDS)]
        yield pa.RecordBatch.from_arrays(columns, schema=KEYS.arrow())


def _scope_number(scope: str) -> int:
    return signed(number(scope))


def _column(kind: Any, values: array[int]) -> Any:
    pa = arrow()
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
