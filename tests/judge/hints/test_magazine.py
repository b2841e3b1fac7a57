"""What hints and protections are worth on the example site, whose truth is known."""

from __future__ import annotations

from collections import Counter
from functools import cache, partial

import pytest
from lxml import etree
from magazine.page import Address, Page
from magazine.truth import Truth

from scrapy_simhash.config import PROTECTIONS
from scrapy_simhash.judge.hints import Hints, evidence, protections, read_hints
from scrapy_simhash.page.text import extract, parse


class Told:
    """The pages of the example site, and what they say about each other: each is read once."""

    def __init__(self, site: dict[Address, Page]) -> None:
        self._site = site
        self.read = cache(self._read)
        self.document = cache(lambda key: extract(self.read(key)[0]))

    def _read(self, key: str) -> tuple[etree._Element, str, Hints]:
        address = Address.of(key)
        url = f"http://{address.host}:8000{address.target}"
        root = parse(self._site[address].body())
        return root, url, read_hints(root, url)

    def evidence(self, key: str, original: str) -> tuple[str, ...]:
        _, url, hints = self.read(key)
        return evidence(hints, url, self.read(original)[1])

    def protections(self, key: str, original: str) -> list[str]:
        root, url, hints = self.read(key)
        found = self.evidence(key, original)
        document = partial(self.document, key)
        return list(protections(root, url, self.read(original)[1], hints, found, PROTECTIONS, document))


@pytest.fixture(scope="module")
def told(site: dict[Address, Page]) -> Told:
    return Told(site)


@pytest.fixture(scope="module")
def truth() -> Truth:
    return Truth.load()


def test_no_copy_is_protected(told: Told, truth: Truth) -> None:
    wrong = [
        (key, original, held)
        for a, b, relation in truth.pairs("duplicate")
        for key, original in ((a, b), (b, a))
        if (held := told.protections(key, original))
    ]
    assert wrong == []


def test_pages_of_one_listing_are_protected_and_months_are_not(told: Told, truth: Truth) -> None:
    held = {
        kind: Counter(
            "pagination" in told.protections(key, original)
            for a, b, relation in truth.pairs("different")
            if relation.kind == kind
            for key, original in ((a, b), (b, a))
        )
        for kind in ("listing-page", "calendar-month")
    }
    assert set(held["listing-page"]) == {True}
    assert set(held["calendar-month"]) == {False}
