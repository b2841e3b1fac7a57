"""Data of a page with hardly any text: the JSON or attributes from which a script renders the page.

The visible text of such pages is often the same, such as a request to enable JavaScript; the words of their data
distinguish them. Numbers are ignored, because ids and times change on each visit.
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

#: Min words of data, and max characters that are read.
MIN_WORDS, MAX_CHARACTERS = 8, 32_768
#: Max visible words, including menus, of a page whose data is read.
MAX_SHOWN = 150
#: Max elements that are read, and min characters of an attribute with data.
MAX_ELEMENTS, MIN_ATTRIBUTE = 1_000, 20
#: Label of the row. In structured data, this label belongs to article numbers.
_DATA = 0
_ATTRIBUTES = etree.XPath(
    f"descendant::*/@*[string-length() >= {MIN_ATTRIBUTE} and starts-with(name(), 'data-')]",
    smart_strings=False,
)
# JSON that is assigned to a variable, or JSON that is the whole script.
_JSON = lazy_pattern(
    r"\s*(?:(?:var|let|const)\s+)?(?:[\w$.\[\]\"']{1,80}\s*=\s*)?(?:JSON\.parse\()?[\[{\"'`]"
)


def data_of(root: etree._Element, shown: int) -> Structured:
    """Return the row for a page's data: at least `MIN_WORDS` and at least *shown* different words, else `NOTHING`.

    *shown* is the number of visible words; there is no row for more than `MAX_SHOWN`. Never raises. Takes a few
    milliseconds at most.
    """
    if shown > MAX_SHOWN:
        return NOTHING
    data = [*_in_scripts(root), *_in_attributes(root)]
    words = {word for word in tokenize(normalize(" ".join(data)[:MAX_CHARACTERS])) if word.isalpha()}
    if len(words) < max(MIN_WORDS, shown):
        return NOTHING
    return Structured((STRUCTURED | _DATA << 16 | number(" ".join(sorted(words))) >> 48,))


def _in_scripts(root: etree._Element) -> Iterator[str]:
    for element in elements(root, "script", limit=MAX_ELEMENTS):
        text = element.text or ""
        kind = (element.get("type") or "").lower()
        if not kind.endswith("ld+json") and ("json" in kind or _JSON.match(text)):
            yield text[:MAX_CHARACTERS]


def _in_attributes(root: etree._Element) -> Iterator[str]:
    found = _ATTRIBUTES(root)
    yield from map(str, found[:MAX_ELEMENTS] if isinstance(found, list) else ())
