"""The whole site in memory: the page of each address."""

from collections.abc import Mapping

from magazine.listing_pages import listing_pages
from magazine.other_pages import not_found, other_pages
from magazine.page import MAIN_HOST, PARTNER_HOST, Address, Page
from magazine.story_pages import story_pages
from magazine.templates.markup import Origins


def build_site(port: int = 8000) -> dict[Address, Page]:
    """Return every page of the two hosts by address.

    *port* is only used in links from one host to the other. The same port gives the same bytes.

    >>> site = build_site()
    >>> site[Address.of("/boats/night-pilot")].kind
    'article'
    """
    origins = Origins(main=f"http://{MAIN_HOST}:{port}", partner=f"http://{PARTNER_HOST}:{port}")
    makers = (listing_pages, story_pages, other_pages)
    return {page.address: page for make in makers for page in make(origins)}


def find(site: Mapping[Address, Page], address: Address) -> Page:
    """Return the page at *address*; the "not found" page for an unknown address."""
    return site.get(address) or not_found(address)
