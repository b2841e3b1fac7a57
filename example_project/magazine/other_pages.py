"""The other pages: notices, products, login pages, pages without text, files, the partner's own pages."""

import json
from collections.abc import Iterator
from urllib.parse import quote

from magazine import editions, story_pages
from magazine.catalogue import (
    load_captions,
    load_members,
    load_notices,
    load_products,
)
from magazine.page import MAIN_HOST, PARTNER_HOST, Address, Page
from magazine.stories import in_language, load_stories
from magazine.templates import message, oddities, partner, shop
from magazine.templates.markup import Link, Origins, esc

ARCHIVE = ("/archive/1998", "/archive/the-winter-of-the-ice", "/archive/index-of-authors")
MISSING = "/boats/the-submarine"

# Two pages that do not declare their language.
_UNDECLARED = {"/about", "/notices/lost-oars"}

_ABOUT = """The Harbour Lamp began in 1962 as a sheet of tide times with one joke at the bottom. It
is now written by eleven people in Saltmere who mostly have other jobs, and printed on a press that
also does wedding cards. We pay for stories in money when we can and in smoked fish when we cannot.
If you think that we have made a mistake, come up the stairs and say so; the kettle is on the left.
Saltmere itself is not on any map, which saves a good deal of parking."""

_ROTA = """Monday belongs to corrections, Tuesday to the photographs, Wednesday to arguing about
commas. The press runs on Thursday night, and whoever is last out feeds the cat and checks the
stove. Nothing on this desk is meant for readers or for search engines, least of all the list of
headlines we decided against."""

_POST_ABOUT = """The Estuary Post has come out every Friday since 1904, apart from one week in which
the river was in the press room. We report on both banks from the Long Bridge to the bar, and we
share the better stories of our smaller neighbour downstream, with its permission and with our own
advertisements around them."""


def other_pages(origins: Origins) -> Iterator[Page]:
    """Yield the pages of the main site that are not stories, then the partner's own pages."""
    for make in (_small_pages, _walls, _oddities, _files, _partner):
        yield from make(origins)


def not_found(address: Address) -> Page:
    """Return the page for an unknown address: with status 200 in the archive (a soft 404), elsewhere with 404."""
    text = message.joined(message.NOT_FOUND_TEXT)
    if address.host == MAIN_HOST and address.target.startswith("/archive/"):
        return Page(address, "soft-404", message.not_found(), text, lang="en")
    return Page(address, "not-found", message.not_found(), text, status=404, lang="en")


def _small_pages(origins: Origins) -> Iterator[Page]:
    links = [Link(path, path.rsplit("/", 1)[1].replace("-", " ")) for path in ARCHIVE]
    links += [
        Link("/old", "The old site"),
        Link("/ferry", "The ferry"),
        Link(MISSING, "The submarine"),
        Link("/api/tides.json", "Tides for programmers"),
        Link(f"{origins.partner}/", "The Estuary Post"),
    ]
    yield _message("/about", "about", "About The Harbour Lamp", message.joined(_ABOUT), links)
    yield _message("/desk/rota", "robots-disallowed", "Editors' desk", message.joined(_ROTA))
    for notice in load_notices():
        yield _message(f"/notices/{notice.slug}", "notice", notice.title, notice.text)
    for product in load_products():
        sizes = [Link(p.path, p.size) for p in load_products() if p.family == product.family]
        markup, text = shop.render(product, sizes), shop.main_text(product)
        yield Page(_main(product.path), "product", markup, text, lang="en", family=product.family)
    for name, caption in load_captions():
        markup = oddities.photograph(name, caption)
        yield Page(_main(f"/photographs/{name}"), "caption", markup, caption, lang="en")


def _walls(_: Origins) -> Iterator[Page]:
    for story in load_members():
        path = f"/members/{story.slug}"
        text = message.joined(message.LOGIN_TEXT)
        yield Page(_main(path), "login-wall", message.login(path), text, lang="en")
    for path in ARCHIVE:
        yield not_found(_main(path))
    yield not_found(_main(MISSING))


def _oddities(_: Origins) -> Iterator[Page]:
    ferry = editions.article_path(load_stories()["en/last-wooden-ferry"])
    yield Page(_main("/ferry"), "redirect", b"", status=301, location=ferry)
    # The old site has session ids, and only it links to the pages that were never converted.
    old = [load_stories()[key] for key in editions.OTHER_ENCODING]
    rows = [Link(story_pages.classic_path(story), story.title) for story in old]
    for story in load_stories().values():
        rows += [
            Link(path, story.title) for kind, path in story_pages.again_paths(story) if kind == "session-id"
        ]
    yield Page(_main("/old"), "old-menu", oddities.old_menu(rows), lang="en")


def _files(origins: Origins) -> Iterator[Page]:
    yield _file("/robots.txt", "text/plain", b"User-agent: *\nDisallow: /desk/\n")
    yield _file("/static/lamp.css", "text/css", b".masthead { letter-spacing: .1em }\n")
    circle = b'<circle cx="4" cy="4" r="3" fill="#e8b500"/>'
    lamp = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">' + circle + b"</svg>\n"
    yield _file("/static/lamp.svg", "image/svg+xml", lamp)
    items = "\n".join(
        f"<item><title>{esc(story.title)}</title><link>{origins.main}{editions.article_path(story)}</link>"
        f"<description>{esc(story.teaser)}</description></item>"
        for story in in_language("en")
    )
    feed = f"""<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel><title>The Harbour Lamp</title><link>{origins.main}/</link>
<description>A magazine from Saltmere</description>
{items}
</channel></rss>
"""
    yield _file("/feed.xml", "application/rss+xml", feed.encode())
    tides = [{"day": day, "high": [f"{(day * 50 // 60) % 12:02}:{day * 50 % 60:02}"]} for day in range(1, 31)]
    yield _file(
        "/api/tides.json", "application/json", json.dumps({"month": "2024-06", "tides": tides}).encode()
    )
    pdf = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj <</Type /Catalog>> endobj\ntrailer <</Root 1 0 R>>\n%%EOF\n"
    yield _file("/files/tide-tables-2024.pdf", "application/pdf", pdf)


def _partner(origins: Origins) -> Iterator[Page]:
    stories = [load_stories()[key] for key in editions.SYNDICATED]
    headlines = [(Link(story_pages.syndicated_target(story), story.title), story.teaser) for story in stories]
    links = [link for link, _ in headlines]
    briefs = [
        (Link(f"/briefs/{brief.slug}", brief.title), " ".join(brief.text.split()[:16]) + " …")
        for brief in load_notices("partner")
    ]
    front = partner.front(headlines, briefs, f"{origins.main}/")
    text = "\n".join(line for link, teaser in (*briefs, *headlines) for line in (link.text, teaser))
    yield Page(Address(PARTNER_HOST, "/"), "partner-front", front, text, lang="en")
    for brief in load_notices("partner"):
        address = Address(PARTNER_HOST, f"/briefs/{quote(brief.slug)}")
        yield Page(address, "notice", partner.brief(brief, links), brief.text, lang="en")
    about = message.joined(_POST_ABOUT)
    shown = partner.message("Who we are", about, links)
    yield Page(Address(PARTNER_HOST, "/about"), "about", shown, about, lang="en")


def _main(path: str) -> Address:
    return Address(MAIN_HOST, path)


def _message(path: str, kind: str, title: str, text: str, links: list[Link] | None = None) -> Page:
    markup = message.render(title, text, links=links or [], declare=path not in _UNDECLARED)
    return Page(_main(path), kind, markup, text, lang="en")


def _file(path: str, content_type: str, content: bytes) -> Page:
    return Page(_main(path), "file", content, content_type=content_type)
