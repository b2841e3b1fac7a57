"""The quality of hints and protections on the example site, whose truth is known."""

from __future__ import annotations

from functools import cache

import pytest
from lxml import etree
from magazine.page import Address, Page
from magazine.truth import Truth

from scrapy_simhash.config import PROTECTIONS
from scrapy_simhash.judge.hints import Hints, evidence, protections, read_hints
from scrapy_simhash.judge.second_look import AGREED, contradiction
from scrapy_simhash.page.features import facts_bytes, find_facts
from scrapy_simhash.page.text import extract, parse


class Told:
    """The pages of the example site and their hints; each is read once."""

    def __init__(self, site: dict[Address, Page]) -> None:
        self._site = site
        self.read = cache(self._read)
        self.facts = cache(self._facts)

    def _read(self, key: str) -> tuple[etree._Element, str, Hints]:
        address = Address.of(key)
        url = f"http://{address.host}:8000{address.target}"
        root = parse(self._site[address].body())
        return root, url, read_hints(root, url)

    def _facts(self, key: str) -> bytes:
        root, url, _ = self.read(key)
        return facts_bytes(find_facts(extract(root), url))

    def evidence(self, key: str, original: str) -> tuple[str, ...]:
        _, url, hints = self.read(key)
        return evidence(hints, url, self.read(original)[1])

    def protections(self, key: str, original: str) -> list[str]:
        root, url, hints = self.read(key)
        found = self.evidence(key, original)
        contradicts = contradiction(self.facts(key), self.facts(original)) != AGREED
        return list(protections(root, url, self.read(original)[1], hints, found, PROTECTIONS, contradicts))


@pytest.fixture(scope="module")
def told(site: dict[Address, Page]) -> Told:
    return Told(site)


@pytest.fixture(scope="module")
def truth() -> Truth:
    return Truth()


#: Copies that say something else beside their sentences: another headline or month, an advertisement in an old
#: template. (Two copies of a page may differ in what each adds to it: crawled is the page itself first.)
OTHERS = {"new-headline", "calendar-month", "other-encoding"}


def test_a_copy_is_protected_only_because_of_its_content(told: Told, truth: Truth) -> None:
    held = {
        relation.kind
        for a, b, relation in truth.pairs("duplicate")
        if "+" not in relation.kind
        for key, original in ((a, b), (b, a))
        if told.protections(key, original)
    }
    assert held == OTHERS
