"""The whole annex: every address it knows, and the page that answers there."""

from collections.abc import Iterator, Mapping

from magazine.page import MAIN_HOST, PARTNER_HOST, Address
from magazine.records import read_pairs
from magazine.templates.markup import Link, Origins

from tests.annex.endless import endless_page
from tests.annex.gazette import gazette_pages
from tests.annex.page import PREFIX, AnnexPage, sheet
from tests.annex.posters import posters_pages, walk_pages
from tests.annex.slip import slip_pages
from tests.annex.standing import CONTENT, read_text
from tests.annex.stores import stores_pages
from tests.annex.tales import tales_pages
from tests.annex.walls import stranger, walls_pages

#: The front door, and another one, whose page says the same and has a link of its own.
STARTS = (PREFIX, f"{PREFIX}welcome")
ATTIC = f"{PREFIX}attic"

AnnexSite = Mapping[Address, AnnexPage]


def build_annex(port: int = 8000) -> dict[Address, AnnexPage]:
    """Return every page of the annex that has an end, by address; *port* is for the links from host to host.

    Raises ValueError if two pages claim one address.

    >>> build_annex()[Address.of("/annex/walk/3/again")].kind
    'echo'
    """
    origins = Origins(main=f"http://{MAIN_HOST}:{port}", partner=f"http://{PARTNER_HOST}:{port}")
    annex: dict[Address, AnnexPage] = {}
    for page in _pages(origins):
        if page.address in annex:
            raise ValueError(f"two pages at {page.address.key}")
        annex[page.address] = page
    return annex


def find(annex: AnnexSite, address: Address) -> AnnexPage:
    """Return the page at *address*: one of *annex*, one of those without end, or what strangers are answered."""
    return annex.get(address) or endless_page(address) or stranger(address)


def _pages(origins: Origins) -> Iterator[AnnexPage]:
    yield from _front()
    yield from gazette_pages()
    yield from stores_pages()
    yield from slip_pages()
    yield from tales_pages(origins)
    yield from posters_pages()
    yield from walk_pages()
    yield from walls_pages()


def _front() -> Iterator[AnnexPage]:
    title, text = read_text("standing/front")
    sections = [Link(PREFIX + path, name) for path, name in read_pairs("sections.txt", ":", CONTENT)]
    front, welcome = STARTS
    yield sheet(front, "front", title, text, links=sections, family="front", role="start")
    attic = read_text("standing/attic")
    yield sheet(welcome, "front", title, text, links=[Link(ATTIC, attic.title)], family="front", role="start")
    yield sheet(ATTIC, "notice", attic.title, attic.text)
