"""The main text of pages as it is compared, and the text that was left out, for a terminal and as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from scrapy_simhash.display import printable
from scrapy_simhash.view.comparison import Page, facts_of
from scrapy_simhash.view.page import html
from scrapy_simhash.view.side_by_side import LEFT_OUT, about, left_out
from scrapy_simhash.view.terminal import FAINT, wrapped


def facts_of_text(page: Page) -> dict[str, Any]:
    """Return the text of a page in order, for JSON: ``left_out`` is the filter, None for main text."""
    fingerprint = page.reading.fingerprint
    return {
        "page": page.name,
        **facts_of(page.document),
        "fingerprint": None if fingerprint is None else fingerprint.hex,
        "site_text": list(page.site_text),
        "text": [
            {"text": paragraph.text, "left_out": paragraph.boilerplate}
            for paragraph in page.document.paragraphs
        ],
    }


def lines(pages: Sequence[Mapping[str, Any]], width: int, has_colours: bool) -> Iterator[str]:
    """Yield the lines of *pages*, at most *width* columns wide except for the name of a page."""
    colour = FAINT if has_colours else ""
    for number, page in enumerate(pages):
        yield from ("",) if number else ()
        yield printable(page["page"])
        for line in (*about(page), *left_out(page)):
            yield from wrapped([(line, "")], width, "", "  ")
        if page["fingerprint"] is None:
            yield "too little text for a fingerprint"
        for is_main, blocks in groupby(page["text"], lambda block: block["left_out"] is None):
            if not is_main:
                yield f"\n[{len(list(blocks)):,} left out]"
                continue
            for block in blocks:
                yield ""
                yield from wrapped([(block["text"], "")], width)
        for reason, words in LEFT_OUT.items():
            texts = [block["text"] for block in page["text"] if block["left_out"] == reason]
            if texts:
                yield from ("", *wrapped([(f"left out, {words}:", "")], width))
                for text in texts:
                    yield from wrapped([(text, colour)], width, "- ", "  ")
        if page["site_text"]:
            yield from ("", "repeated by the site:")
            for piece in page["site_text"]:
                yield from wrapped([(piece["text"], colour)], width, "- ", "  ")


def html_lines(pages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the page of HTML, ASCII only."""
    facts = {
        "pages": pages,
        "about": [[*about(page), *left_out(page)] for page in pages],
        "words": {"left_out": LEFT_OUT},
    }
    return [html("text", "Main text as it is compared", facts)]
