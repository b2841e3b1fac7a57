"""Facts as bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.page.fingerprint.facts import (
    LINE,
    MAX_FACTS,
    MAX_WORDS,
    NAME,
    PLAIN,
    ROW,
    STRUCTURED,
    WORD_BITS,
    is_facts,
    packed,
    with_rows,
)

#: Max per page.
MAX_BYTES, MAX_THINGS = 128, 3
HOSTS = st.integers(0, 255)
WORDS = st.dictionaries(st.integers(0, 2**WORD_BITS - 1), st.integers(NAME, PLAIN), max_size=50)
HASHES = st.integers(0, 2**64 - 1)
ROWS = st.lists(st.tuples(HASHES, HASHES), max_size=9)
THINGS = st.lists(st.integers(STRUCTURED, 2**32 - 1), max_size=MAX_THINGS)


def read(facts: bytes) -> tuple[int, list[tuple[int, int]], list[int]]:
    """Return the host, the words with their kinds, and the rows in *facts*."""
    length, count = facts[0], facts[1]
    assert len(facts) == 1 + length
    words = [int.from_bytes(facts[at : at + 3], "big") for at in range(2, 2 + 3 * count, 3)]
    rows = [int.from_bytes(facts[at : at + 4], "big") for at in range(2 + 3 * count, length, 4)]
    return facts[length], [(word >> 4, word & 15) for word in words], rows


@given(HOSTS, WORDS, ROWS, THINGS)
def test_facts_of_any_page_take_at_most_128_bytes(
    host: int, words: dict[int, int], rows: list[tuple[int, int]], things: list[int]
) -> None:
    facts = packed(host, words, rows)
    whole = with_rows(facts, things)
    assert is_facts(facts)
    assert is_facts(whole)
    assert len(facts) <= len(whole) <= MAX_BYTES
    read_host, read_words, read_rows = read(whole)
    assert read_host == host
    assert read_words == sorted(read_words)
    assert set(read_words) <= set(words.items())
    # Rows of structured data always fit.
    assert read_rows[len(read_rows) - len(things) :] == things
    assert all(row < STRUCTURED for row in read_rows[: len(read_rows) - len(things)])
    assert read(facts) == (host, read_words, read_rows[: len(read_rows) - len(things)])


@given(HOSTS, WORDS)
def test_the_first_facts_have_priority_over_other_words(host: int, words: dict[int, int]) -> None:
    _, kept, _ = read(packed(host, words))
    facts = [pair for pair in words.items() if pair[1] != PLAIN][:MAX_FACTS]
    plain = [pair for pair in words.items() if pair[1] == PLAIN]
    assert kept == sorted((facts + plain)[:MAX_WORDS])


@given(HOSTS, WORDS, ROWS, st.binary(min_size=1, max_size=9))
def test_bytes_of_another_length_are_not_facts(
    host: int, words: dict[int, int], rows: list[tuple[int, int]], more: bytes
) -> None:
    facts = packed(host, words, rows)
    assert not is_facts(facts + more)
    assert not is_facts(facts[:-1])
    # A wrong length, or a wrong number of words.
    assert not is_facts(bytes((facts[0] + 1,)) + facts[1:] + b"x")
    assert not is_facts(facts[:1] + bytes((99,)) + facts[2:])


def test_stored_bytes_do_not_change() -> None:
    facts = packed(9, {0xBCDEF: LINE, 0x12345: NAME, 0xFFFFF: PLAIN, 0x00001: ROW}, [(2**64 - 1, 2**63)])
    rest = "123450bcdef6fffff97fff8000"
    assert facts.hex() == f"1204000018{rest}09"
    assert with_rows(facts, [0x8003_1234]).hex() == f"1604000018{rest}8003123409"
