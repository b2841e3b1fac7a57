"""Reduced: a URL without what has no effect, and what is known of its page, in one number."""

from __future__ import annotations

from typing import NamedTuple

from scrapy_simhash.observers.url_rules.cut_url import CutUrl
from scrapy_simhash.observers.url_rules.evidence import Evidence
from scrapy_simhash.observers.url_rules.hypotheses import Hypothesis

#: Where that number has the uses that the page was fetched for, 16 bits, and the values that rules took out. Below
#: are its content, and how often it was fetched.
USES, VALUES = 40, 56
_WORD = (1 << 32) - 1


class Skip(NamedTuple):
    """Why a request need not be sent."""

    rules: tuple[str, ...]
    key: int
    """The page that has been fetched."""


class Rule(NamedTuple):
    """A rule in force."""

    text: str
    hypothesis: Hypothesis
    about: str
    evidence: Evidence


class Reduced(NamedTuple):
    """A URL without what has no effect."""

    url: CutUrl
    group: str
    """That of the whole URL."""
    key: int
    values: int
    """16 bits for each rule in force: a hash of what it took out, 0 for nothing."""
    stage: int
    """The lowest of the rules that took something out; 0 if none did."""


def content_in(packed: int) -> int:
    """Return the content of what is known of a page."""
    return packed >> 8 & _WORD


def difference(url: CutUrl, shorter: CutUrl) -> int:
    """Return a hash of what was taken out of a URL."""
    if url.query != shorter.query:
        kept = set(shorter.query)
        return hash(tuple([part for part in url.query if part not in kept]) or url.query)
    return hash((url.scheme, url.host, url.path))
