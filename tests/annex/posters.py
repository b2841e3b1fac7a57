"""Posters, each in a number of places, and a walk in which every part can be read twice."""

from collections.abc import Iterator

from magazine.records import read_records
from magazine.templates.markup import Link

from tests.annex.page import AnnexPage, listing, sheet
from tests.annex.standing import CONTENT, as_text

POSTERS = "/annex/posters"
WALK = "/annex/walk"


def posters_pages() -> Iterator[AnnexPage]:
    """Yield the list, then each poster wherever it hung, with a photograph that only that page links to."""
    links, pages = [], []
    for record in read_records("posters", CONTENT):
        title, text = as_text(record)
        for place in record.listed("places"):
            path = f"{POSTERS}/{record.name}/{place}"
            photograph = f"{path}/photograph"
            links.append(Link(path, f"{title}, {place}"))
            seen = [Link(photograph, "As it was photographed")]
            pages.append(sheet(path, "poster", title, text, links=seen, family=f"poster:{record.name}"))
            pages.append(sheet(photograph, "caption", "Photograph", f"By the {place}, in rain."))
    said = "Where they hung and what they said."
    yield listing(POSTERS, "Last year's posters", said, links)
    yield from pages


def walk_pages() -> Iterator[AnnexPage]:
    """Yield the parts of the walk, each a link deeper, and beside each an echo, which alone leads to the tin book."""
    parts = [as_text(record) for record in read_records("walk", CONTENT)]
    for number, (title, text) in enumerate(parts, start=1):
        path = f"{WALK}/{number}"
        links = [Link(f"{path}/again", "Read it again")]
        if number < len(parts):
            links.append(Link(f"{WALK}/{number + 1}", "Walk on"))
        family = f"walk:{number}"
        yield sheet(path, "stage", title, text, links=links, family=family)
        book = [Link(f"{path}/tin-book", "The tin book")]
        yield sheet(f"{path}/again", "echo", title, text, links=book, family=family)
        yield sheet(f"{path}/tin-book", "caption", "The tin book", f"{40 * number} names, in pencil.")
