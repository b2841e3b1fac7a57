"""Which paragraphs tell whether a page has changed: more than its main text, less than all that is on it."""

from __future__ import annotations

import re

from scrapy_simhash.page.text.document import Document, Paragraph
from scrapy_simhash.page.text.main_text import EDGE, LINKED, REASONS
from scrapy_simhash.page.text.tags import ENTRIES

_EDGE = REASONS[EDGE]
# When a page was made; what people write for people has no seconds.
_TIME = re.compile("[0-9]:[0-9][0-9]:[0-9][0-9]")


def compared(document: Document) -> list[Paragraph]:
    """Return the paragraphs of *document* whose change is a change of the page, in their order.

    The main text; and of its edges every ``h1``, and what may well be its last paragraph: behind it, no heading, not
    mostly links, without a time to the second, and either an entry of a list or a table, or in the same element as
    the first or the last paragraph of the main text. O(characters).

    What stands before the text (bylines, counters), between its paragraphs (advertisements) and outside of it rotates
    more often than it changes. :doc:`/how-to/revisits` has figures.
    """
    paragraphs = document.paragraphs
    main = [place for place, paragraph in enumerate(paragraphs) if paragraph.boilerplate is None]
    ends = {_around(paragraphs[place].path) for place in (*main[:1], *main[-1:])}
    last = max(main, default=-1)
    return [
        paragraph
        for place, paragraph in enumerate(paragraphs)
        if paragraph.boilerplate is None
        or (
            paragraph.boilerplate == _EDGE
            and (paragraph.path.endswith("/h1") or (place > last and _may_be_last(paragraph, ends)))
        )
    ]


def _may_be_last(edge: Paragraph, ends: set[str]) -> bool:
    if edge.zone == "heading" or edge.link_density >= LINKED or _TIME.search(edge.text):
        return False
    around, _, tag = edge.path.rpartition("/")
    return tag in ENTRIES or around in ends


def _around(path: str) -> str:
    """Return the path of the element around the last one of *path*."""
    return path.rpartition("/")[0]
