"""Which paragraphs tell whether a page has changed: more than its main text, less than all that is on it."""

from __future__ import annotations

from scrapy_simhash.page.text.document import Document, Paragraph
from scrapy_simhash.page.text.main_text import EDGE, INSET, LINKED, REASONS
from scrapy_simhash.page.text.tags import ENTRIES

_KEPT = (None, REASONS[INSET])


def compared(document: Document) -> list[Paragraph]:
    """Return the paragraphs of *document* whose change is a change of the page, in their order.

    The main text with all insets; and of the edges those that may well be its first or last paragraph: entries of
    lists and tables, and what stands in the same element as the first or the last paragraph of the main text. An edge
    that is a heading below the first level names a box of the template, and one with links leads elsewhere; behind
    the text some links are allowed. O(paragraphs).

    Measured on 6,647 pairs of successive versions of pages, 2,427 of which have the same words in their main text: of
    these 132 differ, 62 of them in signs of the main text. With all edges 368 would, with ``outside`` too 598.
    """
    paragraphs = document.paragraphs
    main = [place for place, paragraph in enumerate(paragraphs) if paragraph.boilerplate is None]
    ends = {_around(paragraphs[place].path) for place in (*main[:1], *main[-1:])}
    last = max(main, default=-1)
    return [
        paragraph
        for place, paragraph in enumerate(paragraphs)
        if paragraph.boilerplate in _KEPT
        or (
            paragraph.boilerplate == REASONS[EDGE]
            and _belongs_to_text(paragraph, ends, is_behind=place > last)
        )
    ]


def _belongs_to_text(edge: Paragraph, ends: set[str], *, is_behind: bool) -> bool:
    around, _, tag = edge.path.rpartition("/")
    if edge.zone == "heading" and not (around and tag == "h1"):
        return False
    if edge.link_density >= LINKED if is_behind else edge.link_density > 0:
        return False
    return tag in ENTRIES or around in ends


def _around(path: str) -> str:
    """Return the path of the element around the last one of *path*."""
    return path.rpartition("/")[0]
