"""Walk over the tree, and return the visible text as blocks, with the regions that contain them.

The tree is shared with the spider and not changed. The walk is iterative and visits each node once. Memory usage is
proportional to the text.
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

#: Max levels of a path, so that the cost of a million nested tags is bounded.
MAX_PATH_DEPTH = 32

# A global name is read faster than a member of an enumeration.
_HIDDEN = Region.HIDDEN
_HIDDEN_CLAIM = Claim(Region.HIDDEN)
#: Regions in which hidden content is skipped, such as menus, forms and boxes.
_OF_TEMPLATE = frozenset((Region.HEADER, Region.LIKELY_CHROME, Region.CHROME, Region.DIALOG))

#: The tag whose content is a single block, in which each line may be an element.
PREFORMATTED = "pre"

#: Tags that are read even if they are hidden: a page may be hidden until a script has run, to avoid flicker.
NEVER_HIDDEN = frozenset(("body", "html"))


class TextBlock(NamedTuple):
    """A run of text between two block-level tags."""

    text: str
    link_length: int
    """Characters of *text* inside links, before white space was collapsed."""
    zone: Zone
    path: str
    hidden: bool = False
    """Whether the block is in a hidden element, which a script or a click may show."""
    is_pictured: bool = False
    """Whether a linked picture in a different element is between the previous block and this block."""


class Span(NamedTuple):
    """An element with the blocks ``start`` to ``stop - 1``, and its region."""

    start: int
    stop: int
    region: Region
    word: int = 0
    """The decisive word of the name, see :class:`~scrapy_simhash.page.text.tags.Claim`."""


class Outline(NamedTuple):
    """The result of a walk: blocks in document order, and spans in the order of their start tags."""

    title: str
    blocks: list[TextBlock]
    spans: list[Span]


class _Kind(NamedTuple):
    """Properties of a tag."""

    name: str
    """The tag without the namespace that an XML parser adds in XHTML."""
    unseen: bool
    inline: bool
    heading: bool
    claim: Claim


def outline(root: etree._Element) -> Outline:
    """Return the text of *root* as blocks, with the spans of its block-level elements.

    Scripts, styles and form controls are left out. Blocks of hidden elements are marked as hidden; within a line, a
    listing or boilerplate they are left out. A listing (``pre``) is a single block. O(nodes + characters).
    """
    blocks: list[TextBlock] = []
    starts: list[int] = []
    stops: list[int] = []
    claims: list[Claim] = []
    parts: list[str] = []
    link_length = 0
    link_depth = 0
    # The element of the last linked picture since the last block, else None.
    pictured: int | None = None
    title: str | None = None
    # The innermost open block-level element, the block-level elements around it, and all open elements.
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

    # Number of open elements up to the listing; 0 outside a listing. Likewise up to the outermost hidden element, and
    # up to the outermost element that is boilerplate.
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
                # The title of an SVG picture is skipped, like its content.
                if title is None and tag == "title":
                    title = element.text or ""
                # The next event is the end of this element, so its tail is read, but not its content.
                skipped = walker.skips = True
                continue
            kinds.append(kind)
            if inline or preformatted:
                # Adjacent elements are rendered separately, so <b>name</b><i>type</i> is two words.
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
    """Return the next element after *root* at the top of its document; None in most documents.

    After an ``</html>`` before the ``body`` the parser starts a second ``html`` element.
    """
    if root.getparent() is not None:
        return None
    return next(root.itersiblings("*"), None)


# The cache is bounded, because a page may contain any number of tags.
@lru_cache(maxsize=1024)
def _kind(tag: str) -> _Kind:
    """Return the properties of *tag*, which may have a namespace."""
    name = tag if tag[0] != "{" else tag.rpartition("}")[2]
    claim = TAG_CLAIM.get(name, PLAIN)
    return _Kind(name, name in UNSEEN, name in INLINE, name in HEADINGS, claim)
