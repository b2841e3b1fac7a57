from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash import kernel
from scrapy_simhash.page import site
from scrapy_simhash.page.site import PieceTable
from tests.examples import examples

_KEY = Struct("<Q")
MIN_TITLES, MIN_TITLES_SHORT = 6, 12

#: The table in C; None without the C extension.
COMPILED: Any = getattr(kernel.native, "PieceTable", None)
KINDS = [
    pytest.param(PieceTable, id="pure"),
    pytest.param(COMPILED, id="compiled", marks=pytest.mark.skipif(COMPILED is None, reason="no kernel")),
]


def packed(keys: Sequence[int]) -> bytes:
    return b"".join(map(_KEY.pack, keys))


BOTH = pytest.mark.parametrize("kind", KINDS)
#: Keys of one bucket in tables of any size.
_CROWDED = st.integers(0, 40).map(lambda number: (number // 2) * 2 * site.MAX_BUCKETS + number % 2)
KEYS = _CROWDED | st.integers(0, 400) | st.integers(0, 2**64 - 1)
#: Adds hundreds of keys at once, so that tables grow.
PAGES = st.lists(KEYS, max_size=30) | st.builds(
    lambda start, count, step: [start + step * place for place in range(count)],
    st.integers(0, 2**32),
    st.integers(0, 400),
    st.integers(1, 97),
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["learn", "learn", "learn", "flags", "reload", "join"]), PAGES, st.integers(0, 63)
    ),
    max_size=25,
)


@pytest.mark.skipif(COMPILED is None, reason="no kernel")
@settings(max_examples=examples(100))
@given(STEPS)
def test_the_table_of_the_kernel_equals_that_of_pure_python(steps: list[tuple[str, list[int], int]]) -> None:
    pure, compiled = PieceTable(MIN_TITLES, MIN_TITLES_SHORT), COMPILED(MIN_TITLES, MIN_TITLES_SHORT)
    for step, keys, title_key in steps:
        if step == "learn":
            pure.learn(packed(keys), title_key)
            compiled.learn(packed(keys), title_key)
        elif step == "flags":
            assert compiled.flags(packed(keys)) == pure.flags(packed(keys))
        elif step == "reload":
            data, title_keys = pure.to_bytes(), pure.title_keys
            pure, compiled = PieceTable(MIN_TITLES, MIN_TITLES_SHORT), COMPILED(MIN_TITLES, MIN_TITLES_SHORT)
            pure.load(data)
            compiled.load(data)
            pure.title_keys = compiled.title_keys = title_keys
        else:
            # Title keys may be 0 in unchecked bytes.
            data = b"".join(packed([key, key * (title_key % 3) % 2**64]) for key in keys)
            pure.load(data)
            compiled.load(data)
        assert (len(compiled), compiled.to_bytes()) == (len(pure), pure.to_bytes())
        assert (compiled.title_keys, compiled.is_known) == (pure.title_keys, pure.is_known)
        assert compiled.known() == pure.known()


@BOTH
def test_a_table_takes_at_most_64_kib_and_keeps_known_boilerplate(kind: Any) -> None:
    found = kind(MIN_TITLES, MIN_TITLES_SHORT)
    of_site = packed([2 * number * 0x9E3779B97F4A7C15 % 2**64 for number in range(1, 101)])
    for title_key in range(MIN_TITLES):
        found.learn(of_site, title_key)
    for number in range(200):
        keys = [((number * 500 + place) * 0xD1B54A32D192ED03) % 2**64 for place in range(500)]
        found.learn(packed(keys), number % 64)
    assert len(found.to_bytes()) <= 64 * 1024
    assert len(found) <= site.BUCKET * site.MAX_BUCKETS
    assert found.flags(of_site) == bytes([site.BOILERPLATE]) * 100


@BOTH
def test_a_piece_is_boilerplate_from_six_title_keys_on_and_a_short_one_from_twelve(kind: Any) -> None:
    found = kind(MIN_TITLES, MIN_TITLES_SHORT)
    found.title_keys = 2**MIN_TITLES - 1  # from pages without common text
    flags = []
    for title_key in range(12):
        found.learn(packed([2, 3]), title_key)
        found.learn(packed([2, 3]), title_key)
        flags.append(tuple(found.flags(packed([2, 3])) or b"\0\0"))
    # Title keys 1 to 12: half of the required number makes a piece doubtful.
    assert flags == [(0, 0)] * 2 + [(2, 0)] * 3 + [(1, 2)] * 6 + [(1, 1)]
    assert found.known() == [(3, 12), (2, 12)]


@BOTH
def test_a_full_bucket_loses_the_piece_with_the_fewest_title_keys_then_the_oldest(kind: Any) -> None:
    found = kind(MIN_TITLES, MIN_TITLES_SHORT)
    same_bucket = [2 * site.MAX_BUCKETS * number for number in range(1, 11)]
    for key in same_bucket[:8]:
        found.learn(packed([key]), 0)
    found.learn(packed(same_bucket[:1]), 1)

    def there() -> list[int]:
        data = found.to_bytes()
        return sorted(int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 16))

    found.learn(packed(same_bucket[8:9]), 0)
    assert there() == [same_bucket[0], *same_bucket[2:9]], "the second piece: the first has two title keys"
    for title_key in range(MIN_TITLES):
        found.learn(packed(there()), title_key)
    before = there()
    found.learn(packed(same_bucket[9:]), 0)
    assert there() == before, "only boilerplate is left"
