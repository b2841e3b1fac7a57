"""The one walk over the tree: visible text as blocks, and the regions those blocks lie in.

The tree belongs to the spider too: it is read, never changed. The walk is iterative and touches each node
once, whatever the depth; what it keeps is proportional to the text.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from lxml import etree

from scrapy_simhash.text.document import Zone
from scrapy_simhash.text.tags import HEADINGS, INLINE, TAG_REGION, UNSEEN, Region, region

#: Levels of a path that are kept, so that a page of a million nested tags costs no more than its text.
MAX_PATH_DEPTH = 32

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


class _Open(NamedTuple):
    """A block-level element that is not closed yet."""

    path: str
    heading: bool
    span: int


def outline(root: etree._Element) -> Outline:
    """Return the visible text of *root* as blocks, with the spans of its block-level elements.

    Scripts, styles, form controls and hidden elements are left out. O(nodes + characters).
    """
    blocks: list[Block] = []
    starts: list[int] = []
    stops: list[int] = []
    regions: list[Region] = []
    parts: list[str] = []
    link_length = 0
    link_depth = 0
    title: str | None = None
    stack = [_Open("", False, -1)]
    top = stack[0]

    def flush() -> None:
        nonlocal link_length
        if parts:
            text = " ".join("".join(parts).split())
            parts.clear()
            if text:
                zone: Zone = "heading" if top.heading else "body"
                blocks.append(Block(text, min(link_length, len(text)), zone, top.path))
            link_length = 0

    walker = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    skipped = abuts = False
    for event, element in walker:
        if event == "start":
            tag = _name(element)
            if tag in UNSEEN or (
                (items := element.items())
                and (claim := region(tag, items)) is Region.HIDDEN
                and tag not in NEVER_HIDDEN
            ):
                skipped = True
                # Pictures have titles too: those of svg are inside it, and skipped with it.
                if title is None and tag == "title":
                    title = element.text or ""
            elif not items:
                claim = TAG_REGION.get(tag, Region.PLAIN)
            if skipped:
                # The next event is this element's end: its tail is read, its inside is not.
                walker.skip_subtree()
                continue
            if tag not in INLINE:
                flush()
                path = top.path
                if len(stack) <= MAX_PATH_DEPTH:
                    path = f"{path}/{tag}" if path else tag
                top = _Open(path, top.heading or tag in HEADINGS, len(starts))
                stack.append(top)
                starts.append(len(blocks))
                stops.append(-1)
                regions.append(claim)
            else:
                # Elements side by side are drawn apart: <b>name</b><i>type</i> is two words.
                if abuts or tag == "br":
                    parts.append(" ")
                if tag == "a":
                    link_depth += 1
            text = element.text
            abuts = False
        else:
            if skipped:
                skipped = False
            elif event == "end":
                abuts = True
                tag = _name(element)
                if tag not in INLINE:
                    flush()
                    stops[top.span] = len(blocks)
                    stack.pop()
                    top = stack[-1]
                elif tag == "a":
                    link_depth -= 1
            if element is root:
                break
            text = element.tail
        if text:
            abuts = False
            parts.append(text)
            if link_depth:
                link_length += len(text)
    flush()
    spans = [Span(*span) for span in zip(starts, stops, regions, strict=True) if span[1] > span[0]]
    return Outline(" ".join((title or "").split()), blocks, spans)


def _name(element: etree._Element) -> str:
    """Return the tag in the form of HTML, also for XHTML that an XML parser has read."""
    tag = cast("str", element.tag)
    return tag if tag[0] != "{" else tag.rpartition("}")[2]
