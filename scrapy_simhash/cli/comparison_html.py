"""A comparison of two pages as one page of HTML, in which nothing of the two runs or is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape as escaped
from typing import Any

from scrapy_simhash.cli.alignment import Side
from scrapy_simhash.cli.comparison_text import LEFT_OUT, changes, verdict
from scrapy_simhash.cli.site_text import site_rows
from scrapy_simhash.view.web import ascii_lines, head, visible

_STYLE = """\
table { table-layout: fixed; margin: 1rem 0 }
td, th { border: 1px solid var(--line) }
"""


def html_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the page, ASCII only; whatever a page says is escaped."""
    return ascii_lines(_lines(facts))


def _lines(facts: Mapping[str, Any]) -> Iterator[str]:
    said = verdict(facts)
    yield head(f"{said[0].upper()}{said[1:]}", _STYLE)
    yield f"<p>Rule: {escape(facts['rule'])}.</p>"
    for sentence in changes(facts):
        yield f"<p>{escape(sentence[0].upper() + sentence[1:])}.</p>"
    yield from _table("Pages", (page["page"] for page in facts["pages"]), _about(facts))
    if any(page["is_stored"] for page in facts["pages"]):
        yield "</body>\n</html>"
        return
    texts = ((_side(pair["a"]), _side(pair["b"])) for pair in facts["text"])
    yield from _table("Main texts", ("first", "second"), texts)
    yield "<h2>Shingles and words</h2>"
    for key, name in (
        ("common", "In common"),
        ("only_in_a", "Only in the first"),
        ("only_in_b", "Only in the second"),
    ):
        found = facts["shingles"][key]
        heaviest = ", ".join(f"{escape(text)} <small>{weight}</small>" for text, weight in found["heaviest"])
        yield f"<p>{name}: {found['count']:,}. {heaviest}</p>"
    if site := list(site_rows(facts)):
        heads = ("on pages of so many subjects", "text")
        yield from _table("Text of the site", heads, ((subjects, escape(text)) for subjects, text in site))
    if facts["differing_bits"]:
        rows = (
            (str(bit["bit"]), ", ".join(f"{lead:+.1%}" for lead in bit["leads"]))
            for bit in facts["differing_bits"]
        )
        yield from _table("Bits that differ, closest votes first", ("bit", "leads of the votes for 1"), rows)
    yield "</body>\n</html>"


def _about(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    first, second = facts["pages"]
    for key in ("title", "language", "subject"):
        yield _told(key, first[key]), _told(key, second[key])
    yield _words(first), _words(second)
    yield _blocks(first), _blocks(second)


def _words(page: Mapping[str, Any]) -> str:
    told = "stored, without its text" if page["is_stored"] else f"{page['tokens']:,} words"
    own = page["own_tokens"]
    return told if own is None else f"{told}, {own:,} of them not the site's text"


def _told(name: str, value: str | list[str] | None) -> str:
    text = " ".join(value) if isinstance(value, list) else value
    return f"<small>{name}:</small> {escape(text or 'none')}"


def _blocks(page: Mapping[str, Any]) -> str:
    return "".join(
        f"<p>{escape(block['text'])} <small>left out: {escape(LEFT_OUT.get(block['reason'], block['reason']))}"
        "</small></p>"
        for block in page["left_out"]
    )


def _side(side: Side) -> str:
    return " ".join(escape(text) if is_common else f"<mark>{escape(text)}</mark>" for text, is_common in side)


def _table(
    name: str, heads: Iterator[str] | tuple[str, ...], rows: Iterator[tuple[str, str]]
) -> Iterator[str]:
    yield f"<h2>{name}</h2>\n<table>"
    yield f"<tr>{''.join(f'<th>{escape(head)}</th>' for head in heads)}</tr>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"
    yield "</table>"


def escape(text: str) -> str:
    """Return *text* as HTML, with controls as their numbers."""
    return escaped(visible(text))
