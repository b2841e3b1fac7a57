"""Fingerprints of documents, made in several processes, and the rules that compare them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from benchmarks.lib.processes import spread
from benchmarks.lib.report import counted
from benchmarks.lib.scores import Overlap, overlap
from scrapy_simhash import Fingerprint, PageFingerprinter, hamming_distance
from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.page.language import normalize, tokenize

#: The name of the default rule in rules(); classic rules are named by their distance.
SIMILARITY = SimilarityRule.name
#: Returns whether two pages are near-duplicates.
Judge = Callable[[Fingerprint, Fingerprint], bool]

#: Makes fingerprints with default settings.
FINGERPRINTER = PageFingerprinter()


class Task(NamedTuple):
    """A document to fingerprint; *gold* is its labelled main text."""

    id: str
    html: bytes
    gold: str | None = None
    content_type: str | None = None
    url: str = ""


class Outcome(NamedTuple):
    """The result for a document; *page* is None if the document has too little text."""

    id: str
    page: Fingerprint | None
    extraction: Overlap | None


def fingerprint(task: Task) -> Outcome:
    """Return the fingerprint of a document, and the overlap of its text with the gold text, if there is one."""
    # The two steps of PageFingerprinter.from_html(), because the document is also measured.
    document = FINGERPRINTER.extract(task.html, content_type=task.content_type)
    page = FINGERPRINTER.from_document(document, task.url)
    extraction = None if task.gold is None else overlap_with_gold(document.text, page, task.gold)
    return Outcome(task.id, page, extraction)


def overlap_with_gold(text: str, page: Fingerprint | None, gold: str) -> Overlap:
    """Return the overlap of *text*, whose fingerprint is *page*, with the *gold* text."""
    found = overlap(tokenize(normalize(text)), tokenize(normalize(gold)))
    known = FINGERPRINTER.from_text(gold)
    return found if known is None else found._replace(near=FINGERPRINTER.is_near_duplicate(page, known))


def fingerprint_all(tasks: Iterable[Task], jobs: int, total: int) -> Iterator[Outcome]:
    """Yield the outcome of each task, in any order, from *jobs* processes, or from this process for one job."""
    yield from counted(spread(fingerprint, tasks, jobs), total, "pages")


def rules(ks: Sequence[int]) -> dict[str, Judge]:
    """Return the rules that are measured, by name: each distance of *ks*, and the default rule."""
    at: dict[str, Judge] = {str(k): partial(_is_within, k) for k in ks}
    return {**at, SIMILARITY: FINGERPRINTER.is_near_duplicate}


def _is_within(k: int, a: Fingerprint, b: Fingerprint) -> bool:
    return hamming_distance(a.value, b.value) <= k
