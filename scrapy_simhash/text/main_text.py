"""Which blocks are the main text: decided by structure first, density second, for every block with a reason.

The aim is a text that stays the same when the template around it changes: better a plain filter that treats two
skins of a page alike than a clever one that is right on one of them. The filters, in order:

1. ``chrome``: what an element names navigation, footer, sidebar, cookie bar, advertisement... is left out,
   unless it holds so much of the page's prose that the name must be wrong. A page header likewise, unless
   it is the header of the main text.
2. ``outside``: where the page marks its main text (``main``, ``article``), the rest is left out. Where it
   does not, the smallest element that holds nearly all prose takes that part.
3. ``links``: blocks that are mostly links, in a row of their like or at either end of what is left.
4. ``edge`` and ``inset``: the furniture of an article, see :mod:`scrapy_simhash.text.furniture`. A page that makes an
   offer keeps it, see :mod:`scrapy_simhash.text.offer`.
5. When this leaves too little, the filters are taken back, the last one first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import TypeAlias

from scrapy_simhash.text.furniture import furniture
from scrapy_simhash.text.offer import offer_blocks
from scrapy_simhash.text.outline import Block, Outline, Span
from scrapy_simhash.text.prose import is_link
from scrapy_simhash.text.tags import Region

#: A chrome element with this share of the page's prose is not believed; one by its tag, of all its text.
CHROME_LIMIT = 0.5
#: The share of the prose left that a marked main text must hold to be believed.
MAIN_SHARE = 0.4
#: The share of the prose that the element which stands in for a marked main text must hold.
DOMINANT_SHARE = 0.85
#: Shorter rows of links are left where text surrounds them: "see also" in an article.
LINK_ROW = 3

# Which filter is taken back when fewer characters than this are left. Chrome comes back only when next to
# nothing else is there: otherwise all short pages of a site would be told by their navigation, and merge.
FALLBACKS = (("inset", 80), ("edge", 80), ("links", 80), ("outside", 80), ("chrome", 1))

Reason: TypeAlias = "str | None"


def classify(outline: Outline, prose: Sequence[bool]) -> tuple[list[Reason], list[int]]:
    """Return for each block of *outline* None if it is main text, else the name of the filter that left it out.

    With it comes which blocks are an offer, see :mod:`scrapy_simhash.text.offer`. *prose* tells, block by
    block, which ones read like sentences. O(blocks + spans).
    """
    blocks, spans = outline.blocks, outline.spans
    reasons: list[Reason] = [None] * len(blocks)
    _leave_out_chrome(blocks, spans, reasons)
    if not _keep_marked_main(blocks, spans, reasons):
        _keep_dominant(blocks, spans, reasons)
    _leave_out_link_rows(blocks, reasons)
    kept = _kept(reasons)
    offer = offer_blocks(blocks, kept, prose)
    if not offer:
        for i, reason in furniture(blocks, kept, prose).items():
            reasons[i] = reason
    left = _length(blocks, reasons)
    for filtered, least in FALLBACKS:
        if left < least:
            reasons = [None if reason == filtered else reason for reason in reasons]
            left = _length(blocks, reasons)
    return reasons, offer


def _kept(reasons: Sequence[Reason]) -> list[int]:
    return [i for i, reason in enumerate(reasons) if reason is None]


def _length(blocks: Sequence[Block], reasons: Sequence[Reason]) -> int:
    """Return the characters that are kept."""
    return sum(len(blocks[i].text) for i in _kept(reasons))


def _masses(blocks: Sequence[Block], reasons: Sequence[Reason]) -> list[int]:
    """Return running sums of the unlinked characters still kept: ``sums[stop] - sums[start]`` is a span's."""
    kept = (
        len(block.text) - block.link_length if reason is None else 0
        for block, reason in zip(blocks, reasons, strict=True)
    )
    return list(accumulate(kept, initial=0))


def _leave_out_chrome(blocks: Sequence[Block], spans: Sequence[Span], reasons: list[Reason]) -> None:
    sums = _masses(blocks, reasons)
    # A footer by its tag is believed on a page of links, where it holds the only sentence.
    limits = {
        Region.CHROME: CHROME_LIMIT * sum(len(block.text) for block in blocks),
        Region.LIKELY_CHROME: CHROME_LIMIT * sums[-1],
        Region.HEADER: CHROME_LIMIT * sums[-1],
    }
    main_stop = chrome_stop = -1
    for start, stop, region in spans:
        if region is Region.MAIN:
            main_stop = max(main_stop, stop)
        elif (
            start >= chrome_stop and region in limits and not (region is Region.HEADER and start < main_stop)
        ):
            if sums[stop] - sums[start] > limits[region]:
                continue
            reasons[start:stop] = ["chrome"] * (stop - start)
            chrome_stop = stop


def _keep_marked_main(blocks: Sequence[Block], spans: Sequence[Span], reasons: list[Reason]) -> bool:
    """Leave out what lies outside the marked main text; tell whether there is one to be believed."""
    sums = _masses(blocks, reasons)
    marked = [span for span in spans if span.region is Region.MAIN and sums[span.stop] > sums[span.start]]
    if not marked:
        return False
    largest = max(marked, key=lambda span: sums[span.stop] - sums[span.start])
    chosen = [largest] if sums[largest.stop] - sums[largest.start] >= MAIN_SHARE * sums[-1] else marked
    inside = bytearray(len(blocks))
    for start, stop, _ in chosen:
        inside[start:stop] = b"\1" * (stop - start)
    held = sum(sums[i + 1] - sums[i] for i, is_inside in enumerate(inside) if is_inside)
    if held < MAIN_SHARE * sums[-1]:
        return False
    for i, is_inside in enumerate(inside):
        if not is_inside and reasons[i] is None:
            reasons[i] = "outside"
    return True


def _keep_dominant(blocks: Sequence[Block], spans: Sequence[Span], reasons: list[Reason]) -> None:
    sums = _masses(blocks, reasons)
    least = DOMINANT_SHARE * sums[-1]
    # Two spans that each hold more than half are nested: the last to open is the smallest.
    dominant = [span for span in spans if sums[span.stop] - sums[span.start] >= least > 0]
    heading = _main_heading(blocks, reasons)
    if heading is not None:
        dominant = [span for span in dominant if span.start <= heading < span.stop] or dominant
    if not dominant:
        return
    start, stop, _ = dominant[-1]
    for i, reason in enumerate(reasons):
        if reason is None and not start <= i < stop:
            reasons[i] = "outside"


def _main_heading(blocks: Sequence[Block], reasons: Sequence[Reason]) -> int | None:
    """Return the first of the highest headings that are kept and are no link to the home page."""
    headings = [i for i in _kept(reasons) if blocks[i].zone == "heading" and not is_link(blocks[i])]
    return min(headings, key=lambda i: blocks[i].path.rpartition("/h")[2][:1], default=None)


def _leave_out_link_rows(blocks: Sequence[Block], reasons: list[Reason]) -> None:
    kept = _kept(reasons)
    rows = []
    at_edge = True
    for linked, places in groupby(kept, key=lambda i: is_link(blocks[i])):
        row = list(places)
        at_edge = at_edge or row[-1] == kept[-1]
        if linked and (at_edge or len(row) >= LINK_ROW):
            rows += row
        at_edge = False
    # A page that says less than its links do is about its links: a table of contents, a list of stories.
    if 2 * sum(len(blocks[i].text) for i in rows) <= sum(len(blocks[i].text) for i in kept):
        for i in rows:
            reasons[i] = "links"
