"""The one walk over the tree: visible text as blocks, and the regions those blocks lie in.

The tree belongs to the spider too: it is read, never changed. The walk is iterative and touches each node
once, whatever the depth; what it keeps is proportional to the text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, cast

from lxml import etree

from scrapy_simhash.page.text.document import Zone
from scrapy_simhash.page.text.tags import (
    HEADINGS,
    INLINE,
    PLAIN,
    SHOWING,
    SHOWN_BY_ATTRIBUTE,
    TAG_CLAIM,
    UNSEEN,
    Claim,
    Region,
    attributes_of,
    claim_of,
)
from scrapy_simhash.page.text.tree import Walk

#: Levels of a path that are kept, so that a page of a million nested tags costs no more than its text.
MAX_PATH_DEPTH = 32

# The look-up of an enumeration's member costs more than that of a name.
_HIDDEN = Region.HIDDEN
_HIDDEN_CLAIM = Claim(Region.HIDDEN)
#: Menus, forms and boxes hide a good deal, and none of it is read.
_OF_TEMPLATE = frozenset((Region.HEADER, Region.LIKELY_CHROME, Region.CHROME, Region.DIALOG))

#: The tag whose inside is one block: white space in it is as written, and lines may be elements of their own.
PREFORMATTED = "pre"

#: A page that hides itself is shown again by a script: against flicker, or against being framed.
NEVER_HIDDEN = frozenset(("body", "html"))


class TextBlock(NamedTuple):
    """A run of text between two block-level tags."""

    text: str
    link_length: int
    """Characters of *text* inside links, before white space was folded."""
    zone: Zone
    path: str
    hidden: bool = False
    """Whether a script or a click shows it: inside a hidden element."""
    is_pictured: bool = False
    """Whether a linked picture stands before it, since the last block, in another element."""


class Span(NamedTuple):
    """An element that holds the blocks ``start`` to ``stop - 1``, and what it claims to be."""

    start: int
    stop: int
    region: Region
    word: int = 0
    """Which word says so, as :class:`~scrapy_simhash.page.text.tags.Claim` has it."""


class Outline(NamedTuple):
    """What one walk yields: blocks in document order, and spans in the order their elements opened."""

    title: str
    blocks: list[TextBlock]
    spans: list[Span]


class _Kind(NamedTuple):
    """What the vocabulary knows about a tag."""

    name: str
    """The tag in the form of HTML, also for XHTML that an XML parser has read."""
    unseen: bool
    inline: bool
    heading: bool
    claim: Claim


def outline(root: etree._Element) -> Outline:
    """Return the text of *root* as blocks, with the spans of its block-level elements.

    Scripts, styles and form controls are left out. Blocks of hidden elements are marked; inside a line, a listing, or
    what claims to be no main text these are left out. A listing (``pre``) is one block,
    whatever elements its lines are. O(nodes + characters).
    """
    blocks: list[TextBlock] = []
    starts: list[int] = []
    stops: list[int] = []
    claims: list[Claim] = []
    parts: list[str] = []
    link_length = 0
    link_depth = 0
    # The element of the last linked picture, None for none since the last block.
    pictured: int | None = None
    title: str | None = None
    # The innermost block-level element that is open, and those around it; then every element that is open.
    path, heading, span = "", False, -1
    around: list[tuple[str, bool, int]] = []
    kinds: list[_Kind] = []

    def flush() -> None:
        nonlocal link_length, pictured
        if text := " ".join("".join(parts).split()):
            zone: Zone = "heading" if heading else "body"
            is_pictured = pictured not in (None, span)
            blocks.append(TextBlock(text, min(link_length, len(text)), zone, path, hidden > 0, is_pictured))
            pictured = None
        parts.clear()
        link_length = 0

    # How many elements are open around the inside of a listing, itself included; 0 outside of one. And the same of
    # the outermost hidden element, and of the outermost that claims to be no main text.
    preformatted = hidden = template = 0
    top = root
    walker = Walk(top)
    steps = iter(walker)
    skipped = abuts = False
    while True:
        event, element = next(steps)
        if event == "start":
            kind = _kind(cast("str", element.tag))
            tag, unseen, inline, is_heading, claim = kind
            if tag in SHOWN_BY_ATTRIBUTE and any(element.get(name) is not None for name in SHOWING):
                claim, unseen = _HIDDEN_CLAIM, False
            elif not unseen and (items := attributes_of(element)):
                claim = claim_of(tag, items)
            hides = claim.region is _HIDDEN and tag not in NEVER_HIDDEN
            if unseen or (
                hides and (inline or preformatted or template or any(not part.isspace() for part in parts))
            ):
                # Pictures have titles too: those of svg are inside it, and skipped with it.
                if title is None and tag == "title":
                    title = element.text or ""
                # The next event is this element's end: its tail is read, its inside is not.
                skipped = walker.skips = True
                continue
            kinds.append(kind)
            if inline or preformatted:
                # Elements side by side are drawn apart: <b>name</b><i>type</i> is two words.
                if (not inline or tag == "br") if preformatted else (abuts or tag == "br"):
                    parts.append(" ")
                if tag == "a":
                    link_depth += 1
                elif tag == "img" and link_depth:
                    pictured = span
            else:
                if parts:
                    flush()
                around.append((path, heading, span))
                if len(around) <= MAX_PATH_DEPTH:
                    path = f"{path}/{tag}" if path else tag
                heading = heading or is_heading
                span = len(starts)
                if hides and not hidden:
                    hidden = len(kinds)
                if not template and claim.region in _OF_TEMPLATE:
                    template = len(kinds)
                starts.append(len(blocks))
                stops.append(-1)
                claims.append(_HIDDEN_CLAIM if hidden else claim)
                if tag == PREFORMATTED:
                    preformatted = len(kinds)
            text = element.text
            abuts = False
        else:
            if skipped:
                skipped = False
            elif event == "end":
                abuts = True
                tag, _, inline, _, _ = kinds.pop()
                if inline or len(kinds) >= preformatted > 0:
                    if tag == "a":
                        link_depth -= 1
                    elif not inline:
                        parts.append(" ")
                else:
                    preformatted = 0
                    if parts:
                        flush()
                    stops[span] = len(blocks)
                    path, heading, span = around.pop()
                    hidden = hidden if len(kinds) >= hidden else 0
                    template = template if len(kinds) >= template else 0
            if element is top:
                following = _next_root(top)
                if following is None:
                    break
                top = following
                walker = Walk(top)
                steps = iter(walker)
                continue
            text = element.tail
        if text:
            abuts = False
            if link_depth:
                parts.append(text)
                link_length += len(text)
            elif parts or not text.isspace():  # a block begins with its first word
                parts.append(text)
    flush()
    spans = [
        Span(start, stop, *claim)
        for start, stop, claim in zip(starts, stops, claims, strict=True)
        if stop > start
    ]
    return Outline(" ".join((title or "").split()), blocks, spans)


def _next_root(root: etree._Element) -> etree._Element | None:
    """Return the element beside *root* at the top of its document, None as a rule.

    After an ``</html>`` that stands before the ``body`` the parser begins a second ``html`` beside the first.
    """
    if root.getparent() is not None:
        return None
    return next(root.itersiblings("*"), None)


# A page may make up any number of tags.
@lru_cache(maxsize=1024)
def _kind(tag: str) -> _Kind:
    """Return what is known about *tag*, which may have a namespace."""
    name = tag if tag[0] != "{" else tag.rpartition("}")[2]
    claim = TAG_CLAIM.get(name, PLAIN)
    return _Kind(name, name in UNSEEN, name in INLINE, name in HEADINGS, claim)
