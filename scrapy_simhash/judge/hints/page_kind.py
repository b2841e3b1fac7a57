"""Detection of listings (pages that are mostly links) by their text and by schema.org types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lxml import etree

from scrapy_simhash.page.structured import MAX_SCRIPT, MAX_THINGS, is_part, scripts, things_in, type_name
from scrapy_simhash.page.text.main_text import LINKED
from scrapy_simhash.page.text.outline import NEVER_HIDDEN
from scrapy_simhash.page.text.tags import (
    HEADINGS,
    INLINE,
    REGION_ATTRIBUTES,
    TAG_REGION,
    UNSEEN,
    Region,
    attributes_of,
    region,
)

#: schema.org types of listings. Shops use SomeProducts for categories.
LISTS = frozenset(
    "CollectionPage ItemList OfferCatalog ProductCollection SearchResultsPage SomeProducts".split()
)

_TYPED = etree.XPath(f"descendant-or-self::*[@itemtype or @typeof][position() <= {MAX_THINGS}]")


def claimed_types(root: etree._Element) -> Counter[str]:
    """Return the number of things of each type in `LISTS` on the page; the tree is not changed.

    Parts of another thing (``itemprop``, a member of a list, the product of a review) do not count, except for the
    ``mainEntity`` of a page. Scripts that are not JSON, or that are too long, are skipped. Never raises. O(nodes +
    characters of the scripts).
    """
    found: Counter[str] = Counter()
    room = MAX_SCRIPT
    for element in scripts(root):
        script = element.text or ""
        # This check avoids most of the slow parsing, because most scripts contain other types.
        if len(script) <= room and any(word in script for word in LISTS):
            room -= len(script)
            for thing in things_in(script):
                found.update(_known(thing.get("@type")))
    elements = _TYPED(root)
    if isinstance(elements, list):
        for element in elements:
            if isinstance(element, etree._Element) and not is_part(element):
                found.update(_known((element.get("itemtype") or element.get("typeof") or "").split()))
    return found


def _known(types: object) -> set[str]:
    """Return the names in *types*, which may be IRIs, that are in `LISTS`.

    >>> sorted(_known(["https://schema.org/ItemList", "schema:OfferCatalog", "Boat"]))
    ['ItemList', 'OfferCatalog']
    """
    names = types if isinstance(types, list) else [types]
    return {type_name(name) for name in names if isinstance(name, str)} & LISTS


#: Min entries of a listing. Fewer entries are a "see also" list.
MIN_ENTRIES = 3
#: Min entries if they are headings, because the last page of a listing has few.
MIN_HEADINGS = 2
#: Max characters, without white space, of a teaser between two entries. A longer text is prose.
TEASER = 600
#: Max characters of text, without white space, per picture in a gallery.
CAPTION = 60
#: Max nodes that are read, not counting the content of menus. The first ten thousand nodes are typical of the page.
MAX_NODES = 10_000

_NOWHERE = ("#", "javascript:", "mailto:", "tel:", "data:")


class _Tally:
    """The entries of a part of a page, and the number of characters in and between them."""

    def __init__(self) -> None:
        self.entries: set[str] = set()
        self.headings: set[str] = set()
        self.pictures: set[str] = set()
        self.listed = 0
        self.prose = 0
        self._run = 0

    def add(self, links: list[str], plain: int, linked: int, is_heading: bool) -> None:
        """Count a line with *links*, and *plain* characters outside and *linked* characters inside them."""
        if not linked:
            self.pictures.update(links)
        if links and linked and linked >= LINKED * (plain + linked):
            self.close()
            self.entries.update(links)
            if is_heading:
                self.headings.update(links)
            self.listed += linked + plain
        else:
            self._run += linked + plain

    def close(self) -> None:
        """End the run of lines that are not entries."""
        if self._run <= TEASER:
            self.listed += self._run
        else:
            self.prose += self._run
        self._run = 0

    @property
    def length(self) -> int:
        """Characters of all lines up to the last `close`."""
        return self.listed + self.prose

    def join(self, other: _Tally) -> None:
        """Add the counts of *other*."""
        self.entries |= other.entries
        self.headings |= other.headings
        self.pictures |= other.pictures
        self.listed += other.listed
        self.prose += other.prose

    @property
    def is_listing(self) -> bool:
        """Whether there are enough entries, and most of the text is in and between them."""
        if len(self.entries) >= MIN_ENTRIES or len(self.headings) >= MIN_HEADINGS:
            return self.listed >= self.prose
        pictures = len(self.pictures | self.entries)
        return pictures >= MIN_ENTRIES and self.length <= CAPTION * pictures


def is_listing(root: etree._Element) -> bool:
    """Return whether the page is mostly links to other pages; the tree is not changed.

    An entry is the URL of a line, heading or cell that is a link, outside menus, sidebars and footers; links inside
    sentences do not count. A page is a listing if most of its text is entries and teasers between them. If most of
    the text is in elements that are boilerplate only by their class names, class names are ignored. A page with a
    schema.org type of `LISTS` is also a listing. Reads the first `MAX_NODES` nodes. Never raises. O(nodes +
    characters).
    """
    kept, doubted = _tallies(root)
    if doubted.length > kept.length:
        kept.join(doubted)
    return kept.is_listing or not LISTS.isdisjoint(claimed_types(root))


def _tallies(root: etree._Element) -> tuple[_Tally, _Tally]:
    """Return a tally without the elements that are boilerplate only by class names, and a tally of these elements."""
    kept, doubted = _Tally(), _Tally()
    tally = kept
    links: list[str] = []
    plain = linked = nodes = 0
    inside_link = inside_main = inside_heading = 0
    doubted_since: etree._Element | None = None
    # Open elements with their names and regions, and the siblings that follow each.
    opened: list[tuple[etree._Element, str, Region, Iterator[etree._Element]]] = []
    following = iter((root,))

    def flush() -> None:
        nonlocal links, plain, linked
        tally.add(links, plain, linked, inside_heading > 0)
        # A link may contain a card: a picture, a heading, a teaser.
        links, plain, linked = links[-1:] if inside_link else [], 0, 0

    while True:
        element = next(following, None)
        if element is None:
            element, tag, claim, following = opened.pop()
            inside_link -= tag == "a"
            if tag not in INLINE:
                if plain or linked or links:
                    flush()
                inside_heading -= tag in HEADINGS
                inside_main -= claim is _MAIN
            if element is doubted_since:
                doubted_since, tally = None, kept
            text = element.tail
        else:
            nodes += 1
            if nodes > MAX_NODES:
                break
            name = element.tag
            tag = name.rpartition("}")[2] if isinstance(name, str) else ""
            claim = _region_of(element, tag) if tag else _HIDDEN
            if (
                tag in UNSEEN
                or (claim is _HIDDEN and tag not in NEVER_HIDDEN)
                or claim is _CHROME
                or (claim is _HEADER and not inside_main)
            ):
                # Read the text after the element, not its content.
                text = element.tail
            else:
                opened.append((element, tag, claim, following))
                following = element.iterchildren()
                if tag not in INLINE:
                    if plain or linked or links:
                        flush()
                    inside_heading += tag in HEADINGS
                    inside_main += claim is _MAIN
                if claim is _LIKELY_CHROME and doubted_since is None:
                    doubted_since, tally = element, doubted
                if tag == "a":
                    inside_link += 1
                    href = (element.get("href") or "").strip()
                    if href and not href.lower().startswith(_NOWHERE):
                        links.append(href.partition("#")[0])
                text = element.text
        if not opened:
            break
        if text:
            length = len("".join(text.split()))
            if inside_link:
                linked += length
            else:
                plain += length
    if plain or linked or links:
        flush()
    kept.close()
    doubted.close()
    return kept, doubted


# A global name is read faster than a member of an enumeration.
_HIDDEN, _CHROME, _HEADER = Region.HIDDEN, Region.CHROME, Region.HEADER
_LIKELY_CHROME, _MAIN, _PLAIN = Region.LIKELY_CHROME, Region.MAIN, Region.PLAIN


def _region_of(element: etree._Element, tag: str) -> Region:
    """Return the region of an element named *tag*: by its attributes, else by its tag."""
    if REGION_ATTRIBUTES.isdisjoint(element.keys()):
        return TAG_REGION.get(tag, _PLAIN)
    return region(tag, attributes_of(element))
