"""The comparison of two pages as JSON: verdict, differences, and other facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import chain, zip_longest
from typing import Any, NamedTuple, TypeAlias

from scrapy_simhash.config import setting_name
from scrapy_simhash.fingerprinter import PageFingerprinter, Reading
from scrapy_simhash.index import hamming_distance
from scrapy_simhash.judge.rule import Rule, rule_fields
from scrapy_simhash.judge.second_look import AGREED, OTHER_NAMES, contradiction
from scrapy_simhash.page.features import find_facts, has_little_text
from scrapy_simhash.page.features.facts import Facts
from scrapy_simhash.page.fingerprint import (
    DOUBTFUL,
    EQUAL_KEY,
    FACTS_AT,
    NO_KEY,
    OTHER_KEY,
    UNKNOWN,
    WITHIN,
    Fingerprint,
    UniqueText,
    compare_keys,
    similarity,
)
from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.pieces import OF_SITE, pieces
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.page.text import Document, parse
from scrapy_simhash.view.words import rounded

#: The prefixes of web URLs.
URLS = ("http://", "https://")
#: The parts of a paragraph, each with a flag: whether the other paragraph has the same part.
Side: TypeAlias = "list[tuple[str, bool]]"
#: Max words of a pair of paragraphs that is compared word by word; a longer pair would take seconds.
MAX_WORDS = 20_000


def aligned(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[Side, Side]]:
    """Yield the paragraphs of two texts side by side, in order; the counterpart of a paragraph may be empty.

    Words are equal if their tokens are equal, so case and punctuation make no difference.

    >>> list(aligned(["A ship."], ["A boat."]))
    [([('A', True), ('ship.', False)], [('A', True), ('boat.', False)])]
    """
    matcher = SequenceMatcher(None, list(map(_key, ours)), list(map(_key, theirs)))
    for _, i, j, k, m in matcher.get_opcodes():
        for left, right in zip_longest(ours[i:j], theirs[k:m], fillvalue=""):
            a, b = left.split(), right.split()
            if len(a) + len(b) > MAX_WORDS:
                yield [(left, left == right)], [(right, left == right)]
            else:
                yield _sides(a, b)


def _sides(ours: Sequence[str], theirs: Sequence[str]) -> tuple[Side, Side]:
    """Return the equal and the different parts of two paragraphs."""
    sides: tuple[Side, Side] = ([], [])
    matcher = SequenceMatcher(None, list(map(_key, ours)), list(map(_key, theirs)))
    for tag, i, j, k, m in matcher.get_opcodes():
        for side, words in ((sides[0], ours[i:j]), (sides[1], theirs[k:m])):
            if words:
                side.append((" ".join(words), tag == "equal"))
    return sides


def _key(text: str) -> str:
    """Return the tokens of *text*, as in fingerprints."""
    return " ".join(tokenize(normalize(text)))


def site_text(document: Document, site: SiteProfile) -> list[dict[str, Any]]:
    """Return the text blocks of *document* that its site repeats, or may repeat, in order."""
    parts, title_keys = pieces(document), dict(site.known())
    flags = site.flags(b"".join(piece.key.to_bytes(8, "little") for piece in parts))
    return [
        {"text": " ".join(piece.tokens), "is_site": flag == OF_SITE, "title_keys": title_keys.get(piece.key)}
        for piece, flag in zip(parts, flags or bytes(len(parts)), strict=True)
        if flag
    ]


def unique_text_similarity(a: Fingerprint, b: Fingerprint) -> float | None:
    """Return the similarity of the unique texts of two pages, 0-1; None if one of them is unknown."""
    ours, theirs = _known_unique_text(a), _known_unique_text(b)
    if ours is None or theirs is None:
        return None
    return round(similarity(ours.minhash or a.sketch, theirs.minhash or b.sketch), 3)


def _known_unique_text(fingerprint: Fingerprint | None) -> UniqueText | None:
    own = UniqueText.from_bytes(fingerprint.own) if fingerprint is not None and fingerprint.own else None
    return None if own is None or own.kind in (UNKNOWN, DOUBTFUL) else own


#: Descriptions of how two title keys compare.
TITLES = {
    NO_KEY: "a page has none",
    EQUAL_KEY: "equal",
    WITHIN: "one has all words of the other",
    OTHER_KEY: "different",
}
#: The values of ``max_distance`` to try, by rule, until one changes the verdict.
DISTANCES: Mapping[str, Sequence[int]] = {"similarity": range(21), "classic": range(64)}


class Source(NamedTuple):
    """A page as received."""

    name: str
    html: bytes
    content_type: str | None = None
    """The HTTP header, if any."""
    content_language: str | None = None


class Page(NamedTuple):
    """A page to compare: its parsed document and its fingerprint."""

    name: str
    document: Document
    reading: Reading
    site_text: Sequence[dict[str, Any]] = ()
    url: str = ""
    """The URL; empty if it is unknown."""


def read(
    source: Source, fingerprinter: PageFingerprinter, host: str = "", site: SiteProfile | None = None
) -> Page:
    """Read a page as in a crawl, with the boilerplate model *site* if given."""
    root = parse(source.html, source.content_type)
    document = fingerprinter.extract(root, content_language=source.content_language)
    config = fingerprinter.config
    learns = config.site_learning and fingerprinter.rule.compares_sketches
    url = source.name if source.name.startswith(URLS) else f"https://{host}/" if host else ""
    profile = (site or SiteProfile()) if learns else None
    reading = fingerprinter.read(root, content_language=source.content_language, site=profile, url=url)
    repeated = site_text(document, site) if learns and site is not None else ()
    return Page(source.name, document, reading, repeated, url)


def comparison(a: Page, b: Page, fingerprinter: PageFingerprinter) -> dict[str, Any]:
    """Return the comparison of two pages, for JSON. Takes a few milliseconds for most pages."""
    rule = fingerprinter.rule
    one, other = a.reading.fingerprint, b.reading.fingerprint
    is_same_text = a.reading.page_hash is not None and a.reading.page_hash == b.reading.page_hash
    pages = [facts_of(a), facts_of(b)]
    found: dict[str, Any] = {
        "pages": pages,
        "rule": str(rule),
        "is_near_duplicate": fingerprinter.is_near_duplicate(one, other),
        "is_near_by_text": False,
        "is_same_text": is_same_text,
        "is_skipped": is_same_text and one is None and (_lacks_path(a) or _lacks_path(b)),
        **dict.fromkeys(("distance", "similarity", "titles", "decided_by", "required", "own_similarity")),
        "contradiction": _contradiction(a, b, rule),
        "changed_by": [],
        "differences": differences(pages),
        "text": [{"a": left, "b": right} for left, right in aligned(*map(_main_text, (a, b)))],
    }
    if one is None or other is None:
        found["is_near_duplicate"] = found["is_near_by_text"] = is_same_text
        return found
    found["is_near_by_text"] = _is_near_by_text(rule, one, other)
    found["distance"] = hamming_distance(one.value, other.value)
    found["own_similarity"] = unique_text_similarity(one, other)
    found["changed_by"] = list(_changes(rule, one, other))
    if one.sketch and other.sketch:
        found["titles"] = TITLES[compare_keys(one.sketch, other.sketch)]
        if nearest := rule.nearest(one, [other.compared_bytes()]):
            found["decided_by"], found["required"] = nearest.decided_by, round(nearest.required, 6)
        found["similarity"] = rounded(similarity(one.sketch, other.sketch), found["required"])
    return found


def _lacks_path(page: Page) -> bool:
    """Return whether the page hash of *page*, a file, would depend on the path of its URL in a crawl."""
    return has_little_text(page.document) and not page.name.startswith(URLS)


def _main_text(page: Page) -> list[str]:
    return [paragraph.text for paragraph in page.document.main]


def differences(pages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the differences of two pages in title, language, names and facts, but not in the text.

    >>> a, b = ({"title": title, "language": "en", "names": [], "facts": ["noon"]} for title in ("Ferry", "Boat"))
    >>> differences([a, b])
    [{'what': 'title', 'only_in_a': ['Ferry'], 'only_in_b': ['Boat']}]
    """
    found = []
    for what in ("title", "language", "names", "facts"):
        ours, theirs = (
            page[what] if isinstance(page[what], list) else [page[what] or "none"] for page in pages
        )
        # Some facts occur more than once on a page.
        only = [
            list(dict.fromkeys(text for text in side if text not in other))
            for side, other in ((ours, theirs), (theirs, ours))
        ]
        if what == "names":
            only = [[" ".join(names)] if names else [] for names in only]
        if any(only):
            found.append({"what": what, "only_in_a": only[0], "only_in_b": only[1]})
    return found


def facts_of(page: Page) -> dict[str, Any]:
    """Return title, title key, facts and text of *page*, for JSON.

    In a text block, ``left_out`` is the name of the filter that left the block out; None for main text.
    """
    document, fingerprint = page.document, page.reading.fingerprint
    found, own = find_facts(document, page.url), _known_unique_text(fingerprint)
    return {
        "page": page.name,
        "fingerprint": None if fingerprint is None else fingerprint.hex,
        "is_interstitial": page.reading.is_interstitial,
        "own_tokens": own and own.tokens,
        "title": document.title,
        "language": document.language,
        "title_key": list(document.title_key),
        "names": list(found.names) if found else [],
        "facts": [line.text for line in found.lines] if found else [],
        "tokens": sum(len(paragraph.tokens) for paragraph in document.main),
        "text": [{"text": block.text, "left_out": block.boilerplate} for block in document.paragraphs],
        "site_text": list(page.site_text),
    }


def _contradiction(a: Page, b: Page, rule: Rule) -> dict[str, Any] | None:
    """Return how two pages contradict each other; None if they do not.

    ``by`` is ``names``, ``facts`` or ``titles``. The other values are the words that only one page has, without
    structured data and labels, or the words of both titles.
    """
    one, other = a.reading.fingerprint, b.reading.fingerprint
    if one is None or other is None or not (one.sketch and other.sketch):
        return None
    found = contradiction(one.sketch[FACTS_AT:], other.sketch[FACTS_AT:])
    if found == AGREED:
        near = rule.compare_all(one, [other.compared_bytes()]) if rule.compares_sketches else []
        if not any(pair.contradicts for pair in near):
            return None
        one_title, other_title = (" ".join(page.document.title_key) for page in (a, b))
        return {"by": "titles", "only_in_a": [one_title], "only_in_b": [other_title]}
    ours, theirs = find_facts(a.document, a.url), find_facts(b.document, b.url)
    return {
        "by": "names" if found == OTHER_NAMES else "facts",
        "only_in_a": _lacking(ours, theirs),
        "only_in_b": _lacking(theirs, ours),
    }


def _lacking(facts: Facts | None, other: Facts | None) -> list[str]:
    """Return the words of *facts* that the page of *other* does not have outside its sentences."""
    if facts is None or other is None:
        return []
    words = chain(facts.names, *(line.words for line in facts.lines))
    lacking = [word for word in dict.fromkeys(words) if word not in other.words]
    repeated = [set().union(*(line.repeated for line in each.lines)) for each in (facts, other)]
    # Also return short lines without such a word, and numbers in a different order.
    runs = [
        dict.fromkeys(" ".join(run) for line in each.lines for run in (line.whole, *line.orders) if run)
        for each in (facts, other)
    ]
    others = [run for run in runs[0] if run not in runs[1]]
    lacking += ["".join(word) for word in facts.signed if word not in other.signed]
    return lacking + sorted(repeated[0] - repeated[1] - set(lacking)) + others


def _changes(rule: Rule, one: Fingerprint, other: Fingerprint) -> Iterator[dict[str, Any]]:
    """Yield each setting of *rule* that alone would change the verdict, with the value closest to the current."""
    is_near = rule.similarity(one, other) is not None
    nearest = rule.nearest(one, [other.compared_bytes()]) if rule.compares_sketches else None
    for name in rule_fields(type(rule)):
        present = getattr(rule, name)
        tried = DISTANCES[rule.name] if name == "max_distance" else ()
        values: Iterable[float] = sorted(tried, key=lambda value: abs(value - present))
        if name == "min_similarity" and nearest is not None:
            # The pages are near-duplicates up to this threshold; the next higher value is the first that changes the
            # verdict.
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
    """Return whether two pages are near-duplicates by their whole text, ignoring the boilerplate model."""
    if not rule.compares_sketches:
        return rule.similarity(one, other) is not None
    return any(near.by_text is not None for near in rule.compare_all(one, [other.compared_bytes()]))
