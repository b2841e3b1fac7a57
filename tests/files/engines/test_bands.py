"""The keys by which engines find candidates."""

from __future__ import annotations

from random import Random
from typing import Any

from xxhash import xxh3_64_intdigest

from scrapy_simhash.files.engines.mappers import keys
from scrapy_simhash.files.engines.sql import KEY_COLUMNS
from scrapy_simhash.page.fingerprint import MINHASH_BYTES, PART, WHOLE, UniqueText
from tests.files.engines.pages import pa

RANDOM = Random(1)
MINHASH = RANDOM.randbytes(4) + bytes(4) + RANDOM.randbytes(MINHASH_BYTES - 8)
TITLE_KEY = RANDOM.randbytes(16)


def keys_of(value: int, sketch: bytes, own: bytes = b"") -> list[dict[str, Any]]:
    columns = {"id": [7], "scope": ["example.com"], "value": [value], "sketch": [sketch], "own": [own]}
    (batch,) = keys(iter([pa.RecordBatch.from_pydict(columns)]))
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def naive_bands(minhash: bytes) -> list[int]:
    bins = [byte >> shift & 3 for byte in minhash for shift in (6, 4, 2, 0)]
    bands = [bins[start : start + 16] for start in range(0, 448, 16)]
    numbers = [sum(bin << 30 - 2 * at for at, bin in enumerate(band)) for band in bands]
    return [number - (number >> 31 << 32) for number in numbers]


def test_a_page_has_28_bands_of_16_bins_and_its_title_key() -> None:
    (row,) = keys_of(-5, MINHASH + TITLE_KEY, UniqueText(WHOLE, 100).to_bytes())
    assert (row["id"], row["value"]) == (7, -5)
    assert [row[name] for name in KEY_COLUMNS[:-1]] == naive_bands(MINHASH)
    assert row["title_key"] % 2**64 == xxh3_64_intdigest(TITLE_KEY)


def test_unique_text_has_the_same_kinds_of_keys_as_a_page() -> None:
    its = RANDOM.randbytes(MINHASH_BYTES)
    page, part = keys_of(5, MINHASH + TITLE_KEY, UniqueText(PART, 90, 2**64 - 9, its).to_bytes())
    assert (part["id"], part["value"], part["title_key"]) == (7, -9, page["title_key"])
    assert [part[name] for name in KEY_COLUMNS[:-1]] == naive_bands(its)
    assert part["scope"] == page["scope"]
