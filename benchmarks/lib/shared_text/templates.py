"""Two ways to lay out a page: with elements that name the parts of a page, and with nested ``div`` elements only."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from benchmarks.lib.shared_text.entities import WORDS, Entity

SEMANTIC, NESTED = "semantic", "nested"
#: Forms of structured data.
JSON_LD, MICRODATA = "json-ld", "microdata"


class Content(NamedTuple):
    """What a template lays out."""

    language: str
    organisation: str
    title: str
    """The content of the ``title`` element."""
    heading: str
    entity: Entity
    changing: str
    """The line with the date and the counters: another one in each repost."""
    paragraphs: Sequence[str]
    """Own and shared prose in the order of the page."""
    related: Sequence[tuple[str, str]]
    """URLs and names of other entities: others in each repost."""
    structured: Mapping[str, object] | None
    """What structured data says of the entity."""
    markup: str
    is_marked: bool
    """Whether an element or a role says which part is the main text."""


def render(template: str, content: Content) -> str:
    """Return the page in *template*, ``semantic`` or ``nested``."""
    head = f'<meta charset="utf-8"><title>{escape(content.title)}</title>'
    body = _TEMPLATES[template](content)
    if content.structured is None:
        pass
    elif content.markup == MICRODATA:
        body += _microdata(content.structured)
    else:
        text = json.dumps({"@context": "https://schema.org", **content.structured}, ensure_ascii=False)
        head += f'<script type="application/ld+json">{text}</script>'
    lines = (
        f'<html lang="{content.language}">',
        f"<head>{head}</head>",
        "<body>",
        body,
        "</body>",
        "</html>",
    )
    return "\n".join(["<!doctype html>", *lines, ""])


def _microdata(thing: object, name: str = "") -> str:
    """Return *thing*, the property *name* of another one, as elements without text."""
    prop = f' itemprop="{name}"' if name else ""
    if not isinstance(thing, Mapping):
        return f'<meta{prop} content="{escape(str(thing))}">'
    inside = "".join(_microdata(value, key) for key, value in thing.items() if key != "@type")
    return f'<div{prop} itemscope itemtype="https://schema.org/{thing["@type"]}">{inside}</div>'


def _semantic(content: Content) -> str:
    words = WORDS.template[content.language]
    rows = "".join(
        f"<tr><th>{escape(label)}</th><td>{escape(value)}</td></tr>" for label, value in content.entity.facts
    )
    opening, closing = (
        ("<main><article>", "</article></main>") if content.is_marked else ('<div id="page">', "</div>")
    )
    menu = "".join(f'<a href="/{number}">{name}</a> ' for number, name in enumerate(words["menu"]))
    return "\n".join(
        [
            f"<header><a href=/>{content.organisation}</a><nav>{menu}</nav></header>",
            opening,
            f"<h1>{escape(content.heading)}</h1>",
            f"<p>{content.changing}</p>",
            f"<table>{rows}</table>" if rows else "",
            *(f"<p>{escape(text, quote=False)}</p>" for text in content.paragraphs),
            closing,
            f"<div><h3>{words['more']}</h3><ul>{_items(content.related)}</ul></div>",
            f"<footer><p>{content.organisation}. {words['closing']}</p></footer>",
        ]
    )


def _nested(content: Content) -> str:
    words = WORDS.template[content.language]
    menu = "".join(f'<li><a href="/{number}">{name}</a></li>' for number, name in enumerate(words["menu"]))
    facts = "".join(
        f"<li><b>{escape(label)}:</b> {escape(value)}</li>" for label, value in content.entity.facts
    )
    closing = words["closing"]
    role = ' role="main"' if content.is_marked else ""
    half = len(content.paragraphs) // 2
    first, second = (
        "\n".join(f"<p>{escape(text, quote=False)}</p>" for text in part)
        for part in (content.paragraphs[:half], content.paragraphs[half:])
    )
    return "\n".join(
        [
            f'<div class="w"><div class="r"><a href="/"><img src="/logo.png" alt=""></a><ul>{menu}</ul></div>',
            f'<div class="r"{role}><div class="c8">',
            f"<h1>{escape(content.heading)}</h1>",
            first,
            f"<ul>{facts}</ul>" if facts else "",
            f"<h2>{words['about']}</h2>",
            second,
            f"<p><small>{content.changing}</small></p>",
            f"<h2>{words['more']}</h2><ul>{_items(content.related)}</ul>",
            "</div></div>",
            f'<div class="r"><p>{content.organisation} &middot; {closing}</p></div></div>',
        ]
    )


def _items(related: Sequence[tuple[str, str]]) -> str:
    return "".join(f'<li><a href="{escape(url)}">{escape(name)}</a></li>' for url, name in related)


_TEMPLATES: dict[str, Callable[[Content], str]] = {SEMANTIC: _semantic, NESTED: _nested}
