"""The one walk over the tree: visible text as blocks, and the regions those blocks lie in.

The tree belongs to the spider too: it is read, never changed. The walk is iterative and touches each node
once, whatever the depth; what it keeps is proportional to the text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, cast

from lxml import etree

from scrapy_simhash.page.text.document import Zone
from scrapy_simhash.page.text.tags import HEADINGS, INLINE, TAG_REGION, UNSEEN, Region, region

#: Levels of a path that are kept, so that a page of a million nested tags costs no more than its text.
MAX_PATH_DEPTH = 32

# The look-up of an enumeration's member costs more than that of a name.
_HIDDEN = Region.HIDDEN

#: A page that hides itself is shown again by a script: against flicker, or against being framed.
NEVER_HIDDEN = frozenset(("body", "html"))


class Block(NamedTuple):
    """A run of text between two block-level tags."""

    text: str
    link_length: int
    """Characters of *text* inside links, before white space was folded."""
    zone: Zone
    path: str


class Span(NamedTuple):
    """An element that holds the blocks ``start`` to ``stop - 1``, and what it claims to be."""

    start: int
    stop: int
    region: Region


class Outline(NamedTuple):
    """What one walk yields: blocks in document order, and spans in the order their elements opened."""

    title: str
    blocks: list[Block]
    spans: list[Span]


class _Kind(NamedTuple):
    """What the vocabulary knows about a tag."""

    name: str
    """The tag in the form of HTML, also for XHTML that an XML parser has read."""
    unseen: bool
    inline: bool
    heading: bool
    claim: Region


def outline(root: etree._Element) -> Outline:
    """Return the visible text of *root* as blocks, with the spans of its block-level elements.

    Scripts, styles, form controls and hidden elements are left out. O(nodes + characters).
    """
    blocks: list[Block] = []
    starts: list[int] = []
    stops: list[int] = []
    claims: list[Region] = []
    parts: list[str] = []
    link_length = 0
    link_depth = 0
    title: str | None = None
    # The innermost block-level element that is open, and those around it; then every element that is open.
    path, heading, span = "", False, -1
    around: list[tuple[str, bool, int]] = []
    kinds: list[_Kind] = []

    def flush() -> None:
        nonlocal link_length
        if text := " ".join("".join(parts).split()):
            zone: Zone = "heading" if heading else "body"
            blocks.append(Block(text, min(link_length, len(text)), zone, path))
        parts.clear()
        link_length = 0

    walker = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    skipped = abuts = False
    for event, element in walker:
        if event == "start":
            kind = _kind(cast("str", element.tag))
            tag, unseen, inline, is_heading, claim = kind
            if unseen or (
                (items := element.items())
                and (claim := region(tag, items)) is _HIDDEN
                and tag not in NEVER_HIDDEN
            ):
                # Pictures have titles too: those of svg are inside it, and skipped with it.
                if title is None and tag == "title":
                    title = element.text or ""
                # The next event is this element's end: its tail is read, its inside is not.
                skipped = True
                walker.skip_subtree()
                continue
            kinds.append(kind)
            if inline:
                # Elements side by side are drawn apart: <b>name</b><i>type</i> is two words.
                if abuts or tag == "br":
                    parts.append(" ")
                if tag == "a":
                    link_depth += 1
            else:
                if parts:
                    flush()
                around.append((path, heading, span))
                if len(around) <= MAX_PATH_DEPTH:
                    path = f"{path}/{tag}" if path else tag
                heading = heading or is_heading
                span = len(starts)
                starts.append(len(blocks))
                stops.append(-1)
                claims.append(claim)
            text = element.text
            abuts = False
        else:
            if skipped:
                skipped = False
            elif event == "end":
                abuts = True
                tag, _, inline, _, _ = kinds.pop()
                if inline:
                    if tag == "a":
                        link_depth -= 1
                else:
                    if parts:
                        flush()
                    stops[span] = len(blocks)
                    path, heading, span = around.pop()
            if element is root:
                break
            text = element.tail
        if text:
            abuts = False
            if link_depth:
                parts.append(text)
                link_length += len(text)
            elif parts or not text.isspace():  # a block begins with its first word
                parts.append(text)
    flush()
    spans = [Span(*span) for span in zip(starts, stops, claims, strict=True) if span[1] > span[0]]
    return Outline(" ".join((title or "").split()), blocks, spans)


# A page may make up any number of tags.
@lru_cache(maxsize=1024)
def _kind(tag: str) -> _Kind:
    """Return what is known about *tag*, which may have a namespace."""
    name = tag if tag[0] != "{" else tag.rpartition("}")[2]
    claim = TAG_REGION.get(name, Region.PLAIN)
    return _Kind(name, name in UNSEEN, name in INLINE, name in HEADINGS, claim)
