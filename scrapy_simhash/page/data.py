"""The data of a page with hardly any text: what a script will show, in JSON or in attributes.

Such pages have one visible text for all, a plea for JavaScript or a line of instructions. They are told apart by the
words of their data; numbers are left out, since ids and times are another one at each visit.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from scrapy_simhash.page.fingerprint.facts import STRUCTURED
from scrapy_simhash.page.fingerprint.fold import number
from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.structured import NOTHING, Structured
from scrapy_simhash.page.text.tree import elements
from scrapy_simhash.patterns import lazy_pattern

#: Words of a page's data below which it has none, and characters that are read.
LEAST_WORDS, MOST_CHARACTERS = 8, 32_768
#: Words that a page shows, its menus too, beyond which nobody looks for data.
MOST_SHOWN = 150
#: Elements that are looked at, and characters of an attribute from which on it holds data.
MOST_ELEMENTS, LEAST_ATTRIBUTE = 1_000, 20
#: The label of the row: those of things begin further up.
_DATA = 0
_ATTRIBUTES = etree.XPath(
    f"descendant::*/@*[string-length() >= {LEAST_ATTRIBUTE} and starts-with(name(), 'data-')]",
    smart_strings=False,
)
# JSON that is assigned to a variable, or is all there is.
_JSON = lazy_pattern(
    r"\s*(?:(?:var|let|const)\s+)?(?:[\w$.\[\]\"']{1,80}\s*=\s*)?(?:JSON\.parse\()?[\[{\"'`]"
)


def data_of(root: etree._Element, shown: int) -> Structured:
    """Return the row of a page's data; none with fewer than `LEAST_WORDS` words, or with more words *shown*.

    Never raises. O(nodes + characters), up to the limits above, where no more than `MOST_SHOWN` words are shown: some
    milliseconds at most. Else O(1).
    """
    if shown > MOST_SHOWN:
        return NOTHING
    data = [*_in_scripts(root), *_in_attributes(root)]
    words = {word for word in tokenize(normalize(" ".join(data)[:MOST_CHARACTERS])) if word.isalpha()}
    if len(words) < max(LEAST_WORDS, shown):
        return NOTHING
    return Structured((STRUCTURED | _DATA << 16 | number(" ".join(sorted(words))) >> 48,))


def _in_scripts(root: etree._Element) -> Iterator[str]:
    for element in elements(root, "script", limit=MOST_ELEMENTS):
        text = element.text or ""
        kind = (element.get("type") or "").lower()
        if not kind.endswith("ld+json") and ("json" in kind or _JSON.match(text)):
            yield text[:MOST_CHARACTERS]


def _in_attributes(root: etree._Element) -> Iterator[str]:
    found = _ATTRIBUTES(root)
    yield from map(str, found[:MOST_ELEMENTS] if isinstance(found, list) else ())
