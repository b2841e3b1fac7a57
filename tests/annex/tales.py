"""The shelf of tales: copies that name the first, pages that name a wrong one, one page behind several doors."""

from collections.abc import Iterator, Sequence

from magazine.records import read_records
from magazine.templates.markup import Link, Origins

from tests.annex.page import PREFIX, AnnexPage, listing, moved, sheet
from tests.annex.standing import CONTENT, Text, as_text

INDEX = "/annex/tales"
LAMP = f"{INDEX}/lamp-oil"

# The same page, as servers hand it out to whoever asks slightly differently. The key says what differs.
DOORS = {"trailing-slash": f"{LAMP}/", "index-file": f"{LAMP}/index.html"}

# Copies that say which page they are copies of, and where they are linked.
COPIES = ("?view=large", "/aloud", "/by-the-fire", "?print=yes")

# What these pages name as their better address is a page with another text: a template that was filled in once.
LIES = {"spoon-war": "/annex/", "left-hand-tide": "/annex/", "patient-lodger": f"{INDEX}/weather-tailor"}

# Reached only through three redirects, one after another.
CHAIN = (("/annex/old/1", "/annex/old/2", 301), ("/annex/old/2", "/annex/old/3", 302))
_LAST = ("/annex/old/3", f"{INDEX}/moved-bell", 308)
_SHORT = ("/annex/old/lamp", LAMP, 301)


def tales_pages(origins: Origins) -> Iterator[AnnexPage]:
    """Yield the index, the tales, their copies and doors, and the redirects."""
    tales = {record.name: as_text(record) for record in read_records("tales", CONTENT)}
    yield _index(tales)
    yield from _lamp(tales["lamp-oil"], origins)
    yield from _copied("borrowed-anchor", tales["borrowed-anchor"])
    # Here a reader comes upon the copy, and only the copy links to the first.
    first = f"{INDEX}/census-of-gulls"
    yield _tale(first, "tale", tales["census-of-gulls"], canonical=first)
    yield _tale(
        _found(first), "copy", tales["census-of-gulls"], canonical=first, links=[Link(first, "Closer")]
    )
    for name in ("weather-tailor", "moved-bell", *LIES):
        path = f"{INDEX}/{name}"
        yield _tale(path, "tale" if name not in LIES else "liar", tales[name], canonical=LIES.get(name, path))
    for path, to, status in (*CHAIN, _LAST, _SHORT):
        yield moved(path, to, status)


def _index(tales: dict[str, Text]) -> AnnexPage:
    hidden = {"moved-bell": CHAIN[0][0], "census-of-gulls": _found(f"{INDEX}/census-of-gulls")}
    links = [Link(hidden.get(name, f"{INDEX}/{name}"), tale.title) for name, tale in tales.items()]
    links.append(Link(_SHORT[0], "The lamp oil, where it used to stand"))
    text = "Things that happened in Saltmere, or very nearly."
    return listing(INDEX, "The shelf of tales", text, links)


def _lamp(tale: Text, origins: Origins) -> Iterator[AnnexPage]:
    doors = [Link(path, f"By the {door.replace('-', ' ')}") for door, path in DOORS.items()]
    other = Link(f"{origins.partner}{LAMP}", "By the other host")
    yield _tale(LAMP, "tale", tale, links=[*doors, other])
    for door, path in DOORS.items():
        yield _tale(path, door, tale)
    yield _tale(LAMP, "other-host", tale, origins=origins)


def _copied(name: str, tale: Text) -> Iterator[AnnexPage]:
    path = f"{INDEX}/{name}"
    copies = [f"{path}{copy}" for copy in COPIES]
    links = [Link(copy, f"Copy {number}") for number, copy in enumerate(copies, start=1)]
    yield _tale(path, "tale", tale, canonical=path, links=links)
    for copy in copies:
        yield _tale(copy, "copy", tale, canonical=path)


def _found(path: str) -> str:
    return f"{path}?from=shelf"


def _tale(
    path: str,
    kind: str,
    tale: Text,
    *,
    canonical: str = "",
    links: Sequence[Link] = (),
    origins: Origins | None = None,
) -> AnnexPage:
    """Return a page with *tale*; with *origins* it lies on the partner's host."""
    name = path.removeprefix(f"{INDEX}/").partition("?")[0].partition("/")[0]
    return sheet(
        path,
        kind,
        tale.title,
        tale.text,
        links=links,
        canonical=canonical,
        origin=origins.partner if origins else "",
        home=origins.main + PREFIX if origins else PREFIX,
        family=f"tale:{name}",
    )
