"""The content other than stories: notices, products, captions, members' titles, advertisements."""

from collections import defaultdict
from functools import cache
from typing import NamedTuple

from magazine.records import read_pairs, read_records


class Notice(NamedTuple):
    """A short announcement of about sixty words."""

    slug: str
    title: str
    date: str
    text: str


class Product(NamedTuple):
    """One size of a product in the shop. Products of a family share their description."""

    family: str
    title: str
    description: str
    size: str
    measure: str
    price: str

    @property
    def path(self) -> str:
        """The path of the product page, such as `/shop/jersey-small`."""
        return f"/shop/{self.family}-{self.size.replace(' ', '-')}"


class MembersStory(NamedTuple):
    """A story for members only: the site has only its title and one sentence."""

    slug: str
    title: str
    teaser: str


@cache
def load_notices(folder: str = "notices") -> list[Notice]:
    """Return the notices of `content/<folder>`, newest first."""
    records = read_records(folder)
    notices = [Notice(one.name, one.headers["title"], one.headers["date"], one.text) for one in records]
    return sorted(notices, key=lambda notice: notice.date, reverse=True)


@cache
def load_products() -> list[Product]:
    """Return every size of every family in the shop."""
    return [
        Product(
            record.headers["family"],
            record.headers["title"],
            record.text,
            *map(str.strip, variant.split("/")),
        )
        for record in read_records("shop")
        for variant in record.listed("variants", ";")
    ]


@cache
def load_captions() -> list[tuple[str, str]]:
    """Return the photographs as (name, caption)."""
    return read_pairs("captions.txt")


@cache
def load_members() -> list[MembersStory]:
    """Return the members-only stories."""
    parts = ((slug, *map(str.strip, rest.split("|"))) for slug, rest in read_pairs("members.txt"))
    return [MembersStory(slug, title, teaser) for slug, title, teaser in parts]


@cache
def load_ads() -> dict[str, list[str]]:
    """Return the advertisements by language."""
    ads: dict[str, list[str]] = defaultdict(list)
    for lang, text in read_pairs("ads.txt"):
        ads[lang].append(text)
    return dict(ads)
