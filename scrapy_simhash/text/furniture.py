"""Furniture: what stands around and between the paragraphs of an article.

Bylines, dates, counters, captions, inset advertisements: short pieces that one template of a site shows and the
next does not. They are told by where they stand, since nothing else is common to them.
"""

from __future__ import annotations

from collections.abc import Sequence

from scrapy_simhash.text.outline import Block

#: From this share of prose on, a text counts as an article, and its furniture is left out.
PROSE_SHARE = 0.6
#: Characters up to which a block may be an inset.
INSET_LENGTH = 250
#: Tags that say "this is a piece of the text"; other containers may hold anything.
PARAGRAPHS = frozenset("blockquote caption dd dt figcaption li p pre summary".split())
CELLS = frozenset(("td", "th"))


def furniture(blocks: Sequence[Block], kept: Sequence[int], prose: Sequence[bool]) -> dict[int, str]:
    """Return which of the *kept* blocks are furniture, each with ``edge`` or ``inset``; {} unless an article.

    An article is mostly prose. ``edge`` is what stands before its first and after its last sentence. Where the
    sentences stand in paragraph tags, ``inset`` is a short block among them in a bare container, unless it is a
    heading or a cell of a table. O(blocks).
    """
    least = PROSE_SHARE * sum(len(blocks[i].text) for i in kept)
    sentences = [i for i in kept if prose[i]]
    paragraphs = [i for i in sentences if _tag(blocks[i]) in PARAGRAPHS]
    has_paragraphs = bool(paragraphs) and sum(len(blocks[i].text) for i in paragraphs) >= least
    if has_paragraphs:
        sentences = paragraphs
    elif not sentences or sum(len(blocks[i].text) for i in sentences) < least:
        return {}
    found = {}
    for place, i in enumerate(kept):
        if not sentences[0] <= i <= sentences[-1]:
            found[i] = "edge"
        elif has_paragraphs and _is_inset(blocks, kept, place, prose):
            found[i] = "inset"
    return found


def _is_inset(blocks: Sequence[Block], kept: Sequence[int], place: int, prose: Sequence[bool]) -> bool:
    """Tell whether a block is a short one in a bare container, amid paragraphs: neither table nor heading."""
    block, tag = blocks[kept[place]], _tag(blocks[kept[place]])
    if tag in PARAGRAPHS or block.zone == "heading" or len(block.text) > INSET_LENGTH:
        return False
    after = blocks[kept[place + 1]] if place + 1 < len(kept) else None
    before = blocks[kept[place - 1]] if place else None
    if tag in CELLS:
        return not any(near is not None and _tag(near) in CELLS for near in (before, after))
    is_heading = block.text[-1].isalnum() and after is not None and prose[kept[place + 1]]
    return not is_heading


def _tag(block: Block) -> str:
    return block.path.rpartition("/")[2]
