"""The main text of pages as it is compared, and what was left out of it: for a terminal, and as a page of HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from scrapy_simhash.display import printable
from scrapy_simhash.view.comparison import Page, facts_of
from scrapy_simhash.view.frame import ascii_lines, head
from scrapy_simhash.view.side_by_side import LEFT_OUT, about, escape

#: What begins and ends what is left out, in a terminal; elsewhere it stands behind a dash and its reason only.
FAINT, PLAIN = "\x1b[2m", "\x1b[0m"
_STYLE = """\
.out { color: var(--quiet); border-left: 3px solid var(--line); padding-left: .75rem }
"""


def facts_of_text(page: Page) -> dict[str, Any]:
    """Return the text of a page in its order, as JSON has it: ``left_out`` is the filter, None for main text."""
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
    """Yield the lines of *pages*, at most *width* columns wide."""
    for number, page in enumerate(pages):
        yield from ("",) if number else ()
        yield printable(page["page"])
        for line in about(page):
            yield from wrap(line, width, subsequent_indent="  ")
        for paragraph in page["text"]:
            yield ""
            reason = paragraph["left_out"]
            told = "" if reason is None else f"- {reason}: "
            for line in wrap(
                f"{told}{printable(paragraph['text'])}", width, subsequent_indent="  " if told else ""
            ):
                yield f"{FAINT}{line}{PLAIN}" if told and has_colours else line
        for piece in page["site_text"]:
            yield from wrap(f"text of the site: {printable(piece['text'])}", width, subsequent_indent="  ")
        if page["fingerprint"] is None:
            yield "\ntoo little text for a fingerprint"


def html_lines(pages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of a page of HTML, ASCII only; whatever a page says is escaped."""
    return ascii_lines(_html(pages))


def _html(pages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield head("Main text as it is compared", _STYLE)
    for page in pages:
        yield f"<h2>{escape(page['page'])}</h2>"
        yield f"<p><small>{'<br>'.join(map(escape, about(page)))}</small></p>"
        for paragraph in page["text"]:
            reason = paragraph["left_out"]
            if reason is None:
                yield f"<p>{escape(paragraph['text'])}</p>"
            else:
                why = escape(LEFT_OUT.get(reason, reason))
                yield f'<p class="out">{escape(paragraph["text"])} <small>left out: {why}</small></p>'
        for piece in page["site_text"]:
            yield f'<p class="out">{escape(piece["text"])} <small>text of the site</small></p>'
    yield "</body>\n</html>"
