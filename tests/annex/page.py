"""A page of the annex: what the site sends, and beside it what would be lost with the page."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from magazine.page import Address, Page
from magazine.templates.markup import Link, anchor, bullets, esc, paragraphs

PREFIX = "/annex/"


@dataclass(frozen=True)
class AnnexPage(Page):
    """A page that knows what hangs on it.

    *links* are the keys of the pages that it links to, apart from the start page, to which they all link. *items*
    names the cards on it. *role* says why its links or items matter though its text may repeat another page's:
    `start`, `listing`, `pagination`, `language`, `product`, or nothing. *canonical* is the key of the page that it
    names as its better address, right or wrong.
    """

    links: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    role: str = ""
    canonical: str = ""


def sheet(
    path: str,
    kind: str,
    title: str,
    text: str,
    *,
    links: Sequence[Link] = (),
    extra: str = "",
    extra_said: str = "",
    head: Sequence[str] = (),
    facts: Mapping[str, Any] | None = None,
    canonical: str = "",
    origin: str = "",
    home: str = PREFIX,
    lang: str = "en-GB",
    family: str = "",
    role: str = "",
    items: Sequence[str] = (),
) -> AnnexPage:
    """Return the page at *path* with *title*, *text* (one paragraph a line), the markup *extra*, then *links*.

    *extra_said* is what *extra* says. *facts* are sent as JSON-LD. A page on the partner's host needs its *origin*,
    and *home*, the address of the start page, with the origin of that.
    """
    address = Address.of(origin + path)
    lines = list(head)
    if canonical:
        lines.insert(0, link_element("canonical", canonical))
    if facts is not None:
        lines.append(f'<script type="application/ld+json">{json.dumps(facts)}</script>')
    main = f"""<main>
<h1>{esc(title)}</h1>
{paragraphs(text)}
{extra}
{bullets(links, "links") if links else ""}
</main>"""
    return AnnexPage(
        address,
        kind,
        _frame(title, main, head=lines, lang=lang, home=home),
        "\n".join(said for said in (text, extra_said) if said),
        lang=lang,
        family=family,
        links=tuple(Address.of(link.href).key for link in links),
        items=tuple(items),
        role=role,
        canonical=canonical,
    )


def listing(path: str, title: str, text: str, links: Sequence[Link]) -> AnnexPage:
    """Return a page that is there for its *links*: their words are part of what it says."""
    page = sheet(path, "listing", title, text, links=links, role="listing")
    return replace(page, main_text="\n".join([text, *(link.text for link in links)]))


def moved(path: str, to: str, status: int) -> AnnexPage:
    """Return a redirect from *path* to the path *to*."""
    return AnnexPage(Address.of(path), "redirect", b"", status=status, location=to)


def link_element(rel: str, href: str, attributes: str = "") -> str:
    """Return a `link` element for the head; *attributes* is markup and starts with a space if not empty."""
    return f'<link rel="{rel}"{attributes} href="{esc(href)}">'


def pager(previous: str, following: str) -> tuple[list[str], list[Link]]:
    """Return the head elements and the links to the pages beside this one; an empty path is none."""
    beside = [
        (to, rel, text) for to, rel, text in ((previous, "prev", "Back"), (following, "next", "On")) if to
    ]
    return [link_element(rel, to) for to, rel, _ in beside], [Link(to, text) for to, _, text in beside]


def slug(title: str) -> str:
    """Return *title* as a part of a path.

    >>> slug("The Smuggler's Grammar")
    'the-smugglers-grammar'
    """
    kept = "".join(char for char in title.casefold() if char.isalnum() or char in " -")
    return "-".join(kept.split())


def _frame(title: str, main: str, *, head: Sequence[str], lang: str, home: str) -> str:
    lines = "\n".join(head)
    return f"""<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<title>{esc(title)} | The Annex</title>
{lines}
</head>
<body>
<header><p class="masthead">{anchor(Link(home, "The Annex of The Harbour Lamp"))}</p></header>
{main}
<footer><p class="built">Dusted at {{{{built}}}}</p></footer>
</body>
</html>
"""
