"""What is told of two pages: their texts, what they have in common, and the verdict on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_simhash.cli.alignment import aligned
from scrapy_simhash.cli.page_source import URLS, Source
from scrapy_simhash.cli.site_text import (
    Unknown,
    names_different_things,
    own_similarity,
    own_tokens,
    site_text,
)
from scrapy_simhash.config import setting_name
from scrapy_simhash.fingerprinter import PageFingerprinter, Reading, Vote
from scrapy_simhash.index import hamming_distance
from scrapy_simhash.judge.rule import Rule, rule_fields
from scrapy_simhash.page.features import shingle_counts
from scrapy_simhash.page.fingerprint import (
    EQUAL_KEY,
    NO_KEY,
    OTHER_KEY,
    WITHIN,
    Fingerprint,
    compare_keys,
    leads,
    similarity,
)
from scrapy_simhash.page.structured import facts
from scrapy_simhash.page.text import Document, parse

if TYPE_CHECKING:
    from scrapy_simhash.page.site import SiteProfile

#: Shingles that are told of each kind, the heaviest.
SHOWN_SHINGLES = 20
#: How two title keys compare, in words.
TITLES = {
    NO_KEY: "a page has none",
    EQUAL_KEY: "equal",
    WITHIN: "one has all words of the other",
    OTHER_KEY: "different",
}
#: The values that are tried for the distances of a rule, to find the one that changes the verdict.
DISTANCES: Mapping[str, Sequence[int]] = {"candidate_distance": range(21), "max_distance": range(64)}


class Page(NamedTuple):
    """A page that was read."""

    name: str
    document: Document
    reading: Reading
    votes: list[Vote]
    """Of its features: shingles and words, by the default scheme. Empty for a page that is too short."""
    shingles: Counter[str]
    is_stored: bool = False
    """Whether it comes from a store, which keeps no text."""
    site_text: Sequence[dict[str, Any]] = ()


def read(
    source: Source, fingerprinter: PageFingerprinter, host: str = "", site: SiteProfile | None = None
) -> Page:
    """Read a page as a crawl does that knows *site* of its host, by default nothing."""
    root = parse(source.html, source.content_type)
    document = fingerprinter.extract(root, content_language=source.content_language)
    config = fingerprinter.config
    learns = config.site_learning and fingerprinter.rule.compares_sketches
    url = source.name if source.name.startswith(URLS) else f"https://{host}/"
    return Page(
        source.name,
        document,
        fingerprinter.read_document(document, site or Unknown(), facts(root, url))
        if learns
        else fingerprinter.read(root, content_language=source.content_language),
        fingerprinter.votes(document, root),
        shingle_counts(document, config.shingle_size, config.mask_digits),
        site_text=site_text(document, site) if learns and site is not None else (),
    )


def comparison(a: Page, b: Page, fingerprinter: PageFingerprinter) -> dict[str, Any]:
    """Return all that is told of two pages, as JSON has it. Some milliseconds for usual pages."""
    rule = fingerprinter.rule
    one, other = a.reading.fingerprint, b.reading.fingerprint
    has_sketches = bool(one and other and one.sketch and other.sketch)
    short = one is None or other is None
    nearest = rule.nearest(one, [other.compared_bytes()]) if one and other and has_sketches else None
    is_exact = short and a.reading.text_hash is not None and a.reading.text_hash == b.reading.text_hash
    facts: dict[str, Any] = {
        "pages": [_page(a), _page(b)],
        "rule": str(rule),
        "is_near_duplicate": is_exact or fingerprinter.is_near_duplicate(one, other),
        "is_near_by_text": is_exact or bool(one and other and _is_near_by_text(rule, one, other)),
        "is_same_text": a.reading.text_hash is not None and a.reading.text_hash == b.reading.text_hash,
        "distance": hamming_distance(one.value, other.value) if one and other else None,
        "similarity": round(similarity(one.sketch, other.sketch), 3)
        if one and other and has_sketches
        else None,
        "common_share": _common_share(a.shingles, b.shingles),
        "titles": TITLES[compare_keys(one.sketch, other.sketch)] if one and other and has_sketches else None,
        "decided_by": nearest and nearest.decided_by,
        "required": nearest and round(nearest.required, 3),
        "own_similarity": own_similarity(one, other) if one and other else None,
        "are_different_things": names_different_things(one, other),
        "changed_by": list(_changes(rule, a, b)) if one and other else [],
        "shingles": _shingles(_weights(a), _weights(b)),
        "differing_bits": list(_differing_bits(a, b)) if one and other else [],
        "text": [
            {"a": left, "b": right}
            for left, right in aligned(
                [paragraph.text for paragraph in a.document.main],
                [paragraph.text for paragraph in b.document.main],
            )
        ],
    }
    return facts


def _page(page: Page) -> dict[str, Any]:
    fingerprint = page.reading.fingerprint
    return {
        "page": page.name,
        "is_stored": page.is_stored,
        "fingerprint": None if fingerprint is None else fingerprint.hex,
        "own_tokens": own_tokens(fingerprint),
        "site_text": list(page.site_text),
        **facts_of(page.document),
    }


def facts_of(document: Document) -> dict[str, Any]:
    """Return what is told of one page: what it is about, how long it is, and what of it is not compared."""
    return {
        "title": document.title,
        "language": document.language,
        "subject": list(document.subject),
        "tokens": sum(len(paragraph.tokens) for paragraph in document.main),
        "left_out": [
            {"reason": paragraph.boilerplate, "text": paragraph.text}
            for paragraph in document.paragraphs
            if paragraph.boilerplate is not None
        ],
    }


def _common_share(ours: Counter[str], theirs: Counter[str]) -> float | None:
    """Return the share of shingles in common, which the similarity estimates; None if a page has none."""
    if not ours or not theirs:
        return None
    together = (ours | theirs).total()
    return round((ours & theirs).total() / together, 3)


def _changes(rule: Rule, a: Page, b: Page) -> Iterator[dict[str, Any]]:
    """Yield each setting of *rule* that alone would change the verdict, with the value nearest to the present one."""
    one, other = a.reading.fingerprint, b.reading.fingerprint
    if one is None or other is None:
        return
    is_near = rule.similarity(one, other) is not None
    nearest = rule.nearest(one, [other.compared_bytes()]) if rule.compares_sketches else None
    for name in rule_fields(type(rule)):
        present = getattr(rule, name)
        values: Iterable[float] = sorted(DISTANCES.get(name, ()), key=lambda value: abs(value - present))
        if name == "min_similarity" and nearest is not None:
            # Near-duplicates by the threshold and all below: the next one above is the first by which they are none.
            value = round(nearest.threshold + is_near / 1000, 3)
            values = [value] if 0 < value <= 1 else []
        for value in values:
            changed: Rule = replace(rule, **{name: value})  # type: ignore[type-var]
            if (changed.similarity(one, other) is not None) != is_near:
                yield {"setting": setting_name(name), "value": value, "present": present}
                break
    if _is_near_by_text(rule, one, other) != is_near:
        yield {"setting": setting_name("site_learning"), "value": False, "present": True}


def _is_near_by_text(rule: Rule, one: Fingerprint, other: Fingerprint) -> bool:
    """Tell whether all the text of two pages makes them near-duplicates, whatever is known about their site."""
    if not rule.compares_sketches:
        return rule.similarity(one, other) is not None
    return any(near.by_text is not None for near in rule.compare_all(one, [other.compared_bytes()]))


def _weights(page: Page) -> dict[str, int]:
    return {vote.feature: vote.weight for vote in page.votes}


def _shingles(ours: Mapping[str, int], theirs: Mapping[str, int]) -> dict[str, Any]:
    """Return the features that voted, shingles and words: in common, and of one page only, the heaviest first."""
    common = ours.keys() & theirs.keys()

    def heaviest(weights: Mapping[str, int]) -> list[list[Any]]:
        first = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
        return [[feature, weight] for feature, weight in first[:SHOWN_SHINGLES]]

    only = [{name: weight for name, weight in one.items() if name not in common} for one in (ours, theirs)]
    return {
        "common": {
            "count": len(common),
            "heaviest": heaviest({name: ours[name] + theirs[name] for name in common}),
        },
        "only_in_a": {"count": len(only[0]), "heaviest": heaviest(only[0])},
        "only_in_b": {"count": len(only[1]), "heaviest": heaviest(only[1])},
    }


def _differing_bits(a: Page, b: Page) -> Iterator[dict[str, Any]]:
    """Yield the bits that differ, those first that fewest votes would have made equal.

    A lead is the share of all votes by which a bit is 1, or 0 if it is negative.
    """
    if a.is_stored or b.is_stored:
        return
    shares = []
    for page in (a, b):
        total = sum(vote.weight for vote in page.votes)
        shares.append([lead / total for lead in _leads(page.votes)])
    one, other = a.reading.fingerprint, b.reading.fingerprint
    differing = one.value ^ other.value if one and other else 0
    bits = [bit for bit in range(len(shares[0])) if differing >> bit & 1]
    for bit in sorted(bits, key=lambda bit: min(abs(share[bit]) for share in shares)):
        yield {"bit": bit, "leads": [round(share[bit], 4) for share in shares]}


def _leads(votes: Sequence[Vote]) -> Iterator[int]:
    """Yield for every bit, the lowest first, by how much it is outweighed: see `leads`, which takes 64 at a time."""
    for end in range(len(votes[0].digest), 0, -8):
        yield from leads((vote.digest[end - 8 : end], vote.weight) for vote in votes)
