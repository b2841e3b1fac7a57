"""The kernel's rows beside those of pure Python; claims of pages that are new by the kernel and by the definition."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from scrapy_simhash import Fingerprint, kernel
from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.page.fingerprint import FACTS_AT, WHOLE, OwnPart
from scrapy_simhash.page.fingerprint.facts import NONE, packed, with_rows
from scrapy_simhash.store import MemoryStore, Posting, candidates
from scrapy_simhash.store.local import Entry, LocalStore, Text
from scrapy_simhash.store.memory import Door, Rows
from tests.examples import examples
from tests.index.values import SCATTER
from tests.store.cases import FACTS, LINES, content, header, own_part, whole

pytestmark = pytest.mark.skipif(kernel.hamming is None, reason=f"pure Python runs: {kernel.REASON}")

#: The length of the keys that stand in the rows.
WIDTH = 20


class Alike(bytes):
    """A key with the hash of others."""

    def __hash__(self) -> int:
        return 7


#: Few, so that they meet again; of the width of the rows and of others, empty and all zeros among them.
KEYS = st.sampled_from(
    [b"", bytes(WIDTH), bytes(WIDTH - 1), b"https://example.com/"]
    + [bytes([number]) * WIDTH for number in range(1, 20)]
    + [b"short " + bytes([number]) * WIDTH for number in range(9)]
    + [Alike([200 + number] * WIDTH) for number in range(4)]
)
URLS = st.one_of(
    st.text(max_size=9),
    st.builds(
        "{}{}{}".format, st.sampled_from(["https://a.example", "//b.example", "x:", "/"]), *[st.text()] * 2
    ),
    st.sampled_from(["https://a.example/ferry", "https://a.example/\ud800", "https://a.example", ""]),
)
#: As long as facts may be.
MOST_FACTS = with_rows(packed(255, {word: word % 15 for word in range(99)}), [2**32 - 1] * 99)
#: As bytes: with a sketch or without, with all kinds of own parts.
COMPARED = st.sampled_from(
    [
        Fingerprint(value, sketch=sketch, own=own).compared_bytes()
        for value in (0, 1, 2**64 - 1)
        for sketch in (b"", bytes(FACTS_AT) + NONE, b"\xff" * FACTS_AT + MOST_FACTS)
        for own in (b"", bytes(11), b"\1" + b"\xff" * 10, own_part(1), OwnPart(WHOLE, 9).to_bytes())
    ]
)
#: The first scope's text 0, the second's SCATTER and the third's 2 * SCATTER have one number in the kernel.
TEXT_HASHES = st.sampled_from([0, 1, 2**64 - 1, SCATTER, SCATTER ^ 1, 2 * SCATTER % 2**64])
SCOPES = st.sampled_from(["", "example.com", "\udc80"])
NUMBERS = st.sampled_from([0, 1, 2, 3, 2**32 - 1])


class RowsMachine(RuleBasedStateMachine):
    """The life of both; what one holds the other holds too."""

    def __init__(self) -> None:
        super().__init__()
        assert kernel.hamming is not None
        self.both: tuple[Rows, Rows] = (Rows(), kernel.hamming.Rows(Door))
        self.pages = self.contents = 0
        #: Of each content.
        self.scopes: list[str] = []

    def ask(self, name: str, *arguments: Any) -> Any:
        pure, native = (getattr(rows, name)(*arguments) for rows in self.both)
        assert native == pure
        return pure

    @rule(
        key=KEYS,
        url=URLS,
        compared=COMPARED,
        text_hash=st.none() | TEXT_HASHES,
        seen=st.sampled_from([0, 1_800_000_000, 2**62, -1]),
        is_short=st.booleans(),
        content=st.integers(0, 9),
        has_own_sketch=st.booleans(),
        rank=NUMBERS,
        scope=SCOPES,
        joins=st.none() | st.integers(0, 9),
        takes=st.booleans(),
        leaves=st.none() | st.builds(Text, SCOPES, TEXT_HASHES, st.integers(0, 9)),
    )
    def write(
        self,
        key: bytes,
        url: str,
        compared: bytes,
        text_hash: int | None,
        seen: int,
        is_short: bool,
        content: int,
        has_own_sketch: bool,
        rank: int,
        scope: str,
        joins: int | None,
        takes: bool,
        leaves: Text | None,
    ) -> None:
        known = self.ask("find", key)
        number = self.pages if known is None else known
        content = min(content, self.contents)
        is_new = content == self.contents
        # A page joins a content of its scope.
        scope = scope if is_new else self.scopes[content]
        assume(joins is None or joins < self.pages)
        posting = Posting(key, url, scope, Fingerprint(0), is_short, text_hash, seen)
        # Only that there was a visit says something to rows.
        former: Any = None if known is None else ()
        own = has_own_sketch and not is_new
        text = Text(scope, text_hash, content) if takes and text_hash is not None else None
        self.ask(
            "write",
            Entry(number, posting, former, content, is_new, own, False, rank, joins, 1, leaves, text),
            compared,
        )
        self.pages += known is None
        self.contents += is_new
        self.scopes += [scope] * is_new
        for one in range(self.pages):
            self.ask("page", one)
            self.ask("first_copies", one)
        for one in range(self.contents):
            self.ask("content", one)
        assert self.ask("find", key) == number

    @rule(key=KEYS)
    def find(self, key: bytes) -> None:
        self.ask("find", key)

    @rule(scope=SCOPES, text_hash=TEXT_HASHES)
    def with_text(self, scope: str, text_hash: int) -> None:
        self.ask("with_text", scope, text_hash)

    @rule(key=KEYS, leaves=st.none() | st.builds(Text, SCOPES, TEXT_HASHES, st.integers(0, 9)))
    def remove(self, key: bytes, leaves: Text | None) -> None:
        if (number := self.ask("find", key)) is not None:
            self.ask("remove", key, leaves)
            assert self.ask("page", number) is None
            assert self.ask("find", key) is None

    @precondition(lambda self: self.pages)
    @rule(number=st.integers(0, 9))
    def contents_of(self, number: int) -> None:
        self.ask("contents_of", number)


TestRowsMachine = RowsMachine.TestCase
TestRowsMachine.settings = settings(max_examples=examples(60), stateful_step_count=40, deadline=None)


def test_a_page_or_content_that_is_not_there_is_refused() -> None:
    assert kernel.hamming is not None
    rows: Rows = kernel.hamming.Rows(Door)
    for ask in (rows.page, rows.content, rows.first_copies):
        with pytest.raises(IndexError):
            ask(0)
    entry = Entry(
        0, Posting(b"a", "", "", Fingerprint(0)), None, 5, False, False, False, 0, None, 1, None, None
    )
    for wrong in (entry._replace(joins=1), entry, entry._replace(former=(), content=0)):  # type: ignore[arg-type]
        with pytest.raises(IndexError):
            rows.write(wrong, bytes(8))
    with pytest.raises(MemoryError):
        rows.write(entry._replace(content=0, is_new_content=True), bytes(1000))
    assert rows.find(b"a") is None


def test_thousands_of_keys_are_found_until_their_pages_are_removed() -> None:
    assert kernel.hamming is not None
    rows: Rows = kernel.hamming.Rows(Door)
    random, numbers = Random(1), dict[bytes, int]()
    for number in range(20_000):
        key = b"%020d" % random.randrange(10**9)
        if rows.find(key) is None:
            posting = Posting(key, "", "", Fingerprint(0))
            new = Entry(len(numbers), posting, None, 0, number == 0, False, False, 0, None, 1, None, None)
            rows.write(new, bytes(8))
            numbers[key] = len(numbers)
        if number % 3 == 0 and (gone := random.choice(list(numbers)[-50:])) and rows.find(gone) is not None:
            rows.remove(gone, None)
            numbers[gone] = -1
    assert {key: rows.find(key) for key in numbers} == {
        key: None if number < 0 else number for key, number in numbers.items()
    }


def test_pages_of_two_scopes_are_never_the_same_text() -> None:
    native, pure = MemoryStore(header(SimilarityRule())), MemoryStore(header(SimilarityRule()))
    pure._native = pure._look = None
    pure._rows = Rows()
    # The kernel numbers these scopes 0 and 1, and each of them has a text with the number of one of the other.
    texts = [("one", 12345), ("two", 12345 ^ SCATTER), ("two", 7), ("one", 7 ^ SCATTER)]
    for number, (scope, text_hash) in enumerate(texts * 3):
        where = f"https://{scope}.example/{number}"
        fingerprint = content(number << 20, text=f"text {number}")
        posting = Posting(b"%020d" % number, where, scope, fingerprint, False, text_hash, 0)
        claim = native.claim(posting)
        assert claim == pure.claim(posting)
        first = number % len(texts)
        assert claim.original == (None if number == first else f"https://{scope}.example/{first}")
    for number in range(len(texts)):
        native.remove(b"%020d" % number)
        assert native._rows.with_text(*texts[number]) == number, "pages that repeat it have it"
        native.remove(b"%020d" % (number + len(texts)))
        native.remove(b"%020d" % (number + 2 * len(texts)))
        assert native._rows.with_text(*texts[number]) is None
    assert list(native) == []


def drawn(random: Random) -> Fingerprint:
    """Return one of few pages, so that most have candidates, and some are near-duplicates."""
    value = random.choice((0, 0b111, 0b111_1111, 2**20 - 1, random.getrandbits(64))) ^ random.choice(
        (0, 0, 1 << 40)
    )
    subject = random.choice(("night pilots", "night pilots", "day pilots", "boats", ""))
    text, edited = f"story {random.randrange(4)}", random.choice((0, 0, 10, 35, 90))
    fingerprint = content(value, edited, subject, text, random.choice(random.choice((FACTS, LINES))))
    own = [
        b"",
        OwnPart(WHOLE, 100, words=random.randrange(2)).to_bytes(),
        own_part(random.randrange(8), edited),
    ]
    own.append(own_part(0, tokens=5))
    return replace(fingerprint, own=random.choice(own)) if random.random() < 0.9 else Fingerprint(value)


@given(
    seed=st.integers(0, 2**32),
    limits=st.sampled_from([(64, 256), (4, 6), (3, 2), (1, 1)]),
    explains=st.booleans(),
    similarity=st.sampled_from([0.8, 0.6, 1.0]),
)
@settings(max_examples=examples(60), deadline=None)
def test_claims_by_the_kernel_are_those_of_the_definition(
    seed: int, limits: tuple[int, int], explains: bool, similarity: float
) -> None:
    random = Random(seed)
    native = MemoryStore(header(SimilarityRule(8, similarity)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "MOST_COMPARED", limits[0])
        patch.setattr(candidates, "MOST_NEARBY", limits[1])
        pure = MemoryStore(native.header)
        pure._native = pure._look = None
        assert native._native is not None
        assert native._look is not None
        native.explains = pure.explains = explains
        for number in range(60):
            # Now and then one that is known.
            key = number if random.random() < 0.9 else random.randrange(number + 1)
            posting = Posting(
                b"%020d" % key,
                f"https://example.com/{random.randrange(99)}",
                random.choice(("", "", "x")),
                drawn(random),
                random.random() < 0.05,
                random.choice((None, 1, 2)),
                number,
            )
            assert LocalStore.look(native, posting) == pure.look(posting)
            assert native.claim(posting) == pure.claim(posting)
            if random.random() < 0.05:
                gone = b"%020d" % random.randrange(number + 1)
                assert native.remove(gone) == pure.remove(gone)
        assert [whole(one) for one in native] == [whole(one) for one in pure]
        assert (len(native), native.index_size, native._crowded) == (
            len(pure),
            pure.index_size,
            pure._crowded,
        )
        for scope, index in native._indexes.items():
            assert sorted(index) == sorted(pure._indexes[scope])
