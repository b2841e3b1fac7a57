"""Headers, contents, postings and claims for tests of stores."""

from __future__ import annotations

from functools import cache
from typing import Any

from scrapy_simhash import Fingerprint
from scrapy_simhash.judge.rule import ClassicRule, Rule, SimilarityRule
from scrapy_simhash.page.fingerprint import MINHASH_BYTES, PART, UniqueText, digest, sketch
from scrapy_simhash.page.fingerprint.facts import LINE, NAME, NONE, STRUCTURED, packed, with_rows
from scrapy_simhash.store import Claim, Header, Posting, Row

FAR = 0xFFFF_0000_FFFF_0000  # far from 0 and from its neighbours
CLASSIC = ClassicRule()
SECOND_LOOK = SimilarityRule()

SHINGLES = 400

#: Facts of two pages that contradict each other apart from their names, and of two with contradicting names.
LINES = tuple(packed(1, {word: LINE}) for word in (1, 2))
NAMES = tuple(packed(1, {word: NAME}) for word in (3, 4))
#: Facts that contradict each other in the rows of a table, and in those of structured data.
ROWS = tuple(packed(1, {}, [(1 << 63, value << 48)]) for value in (1, 2))
THINGS = tuple(with_rows(NONE, [STRUCTURED | 3 << 16 | value]) for value in (1, 2))
#: The first of `LINES` as read on another host.
MIRRORED = packed(2, {1: LINE})
FACTS = (NONE, *LINES, *NAMES, *ROWS, *THINGS, MIRRORED)


def header(rule: Rule) -> Header:
    return Header("web-4", rule)


@cache
def content(
    value: int, edited: int = 0, title_key: str = "night pilots", text: str = "", facts: bytes = NONE
) -> Fingerprint:
    """Return a fingerprint with a sketch of 400 shingles of *text*, of which the first *edited* are replaced.

    If m < n shingles of the same text are edited, the contents differ in n - m shingles.
    """
    names = [f"{text}{i}{'edited' if i < edited else ''}" for i in range(SHINGLES)]
    shingles = [int.from_bytes(digest(name), "big") for name in names]
    # Stores do not keep the number of features.
    return Fingerprint(value, sketch=sketch(shingles, title_key.split(), facts))


@cache
def unique_text(value: int, edited: int = 0, text: str = "own", tokens: int = 100) -> bytes:
    """Return the unique text of 400 shingles of *text*, see content()."""
    return UniqueText(PART, tokens, value, content(0, edited, text=text).sketch[:MINHASH_BYTES]).to_bytes()


def posting(
    key: str,
    what: int | Fingerprint,
    scope: str = "",
    is_short: bool = False,
    page_hash: int | None = None,
    seen: int = 0,
    is_delivered: bool = False,
) -> Posting:
    fingerprint = Fingerprint(what) if isinstance(what, int) else what
    if is_short:
        page_hash = fingerprint.value
    url = f"https://example.com/{key}"
    return Posting(key.encode(), url, scope, fingerprint, is_short, page_hash, seen, is_delivered)


def whole(posting: Posting) -> tuple[object, ...]:
    """Return all that a store keeps of *posting*, because fingerprints compare equal if their values are."""
    return (*bare(posting), posting.fingerprint.sketch, posting.fingerprint.own)


def bare(answer: Any) -> Any:
    """Return a claim, row or posting without the fields that some stores do not fill."""
    if isinstance(answer, Claim):
        former = answer.former
        if former is not None:
            former = bare(
                former._replace(original=None, posting=former.posting._replace(url="", is_delivered=False))
            )
        return answer._replace(former=former, nearest=None, is_generic=False)
    if isinstance(answer, Row):
        return answer._replace(posting=bare(answer.posting), rank=None, joined=0, found_by=0)
    return answer._replace(history=None) if isinstance(answer, Posting) else answer


def url(key: str) -> str:
    return posting(key, 0).url
