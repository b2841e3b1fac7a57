"""The stores: variants of a product that differ in a word or a number, and the same product under other addresses."""

from collections.abc import Iterator
from typing import NamedTuple

from magazine.records import read_records
from magazine.templates.markup import Link, esc

from tests.annex.page import AnnexPage, listing, sheet, slug
from tests.annex.standing import CONTENT

INDEX = "/annex/stores"
LETTER = "/annex/stores/letter"

# The links of a newsletter, which remember whom they were sent to.
TRACKING = ("utm_source=letter&utm_medium=email", "ref=friend-of-agnes")


class Variant(NamedTuple):
    """One thing that can be bought. *known_as* is schema.org's word for *label*.

    *is_named* where the variant's word stands in the title of its page.
    """

    family: str
    title: str
    label: str
    known_as: str
    value: str
    price: str
    text: str
    is_named: bool

    @property
    def path(self) -> str:
        """The path of its page, such as `/annex/stores/mug/300-ml`."""
        return f"{INDEX}/{self.family}/{slug(self.value)}"

    @property
    def heading(self) -> str:
        """The title of its page."""
        return f"{self.title}, {self.value}" if self.is_named else self.title


def load_families() -> list[list[Variant]]:
    """Return the variants, a list a family. Raises ValueError for a variant not of two parts."""
    families = []
    for record in read_records("goods", CONTENT):
        variants = []
        for variant in record.required("variants").split(";"):
            value, slash, price = (part.strip() for part in variant.partition("/"))
            if not slash:
                raise ValueError(f"{record.name}: expected 'variant / price', got {variant!r}")
            text = "\n".join(block.text for block in record.blocks)
            is_named = record.required("named") == "yes"
            title, label, name = (record.required(header) for header in ("title", "variant", "property"))
            variants.append(Variant(record.name, title, label, name, value, price, text, is_named))
        families.append(variants)
    return families


def stores_pages() -> Iterator[AnnexPage]:
    """Yield the index, which knows one variant a family, all variants, and a newsletter with its tracked links."""
    families = load_families()
    first = [Link(family[0].path, family[0].title) for family in families]
    links = [*first, Link(LETTER, "The stores' letter")]
    text = "Oilskins, rope and mugs, made within hearing of the bell."
    yield listing(INDEX, "The stores", text, links)
    tracked: list[Link] = []
    for family in families:
        for variant in family:
            yield _product(variant, family)
        for query in TRACKING:
            yield _product(family[-1], family, query)
            tracked.append(Link(f"{family[-1].path}?{query}", family[-1].heading))
    text = (
        "What we made this season, for those who asked to be told, and for one who did not but looked cold."
    )
    yield listing(LETTER, "The stores' letter", text, tracked)


def _product(variant: Variant, family: list[Variant], query: str = "") -> AnnexPage:
    facts = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": variant.title,
        "sku": f"{variant.family}-{slug(variant.value)}",
        variant.known_as: variant.value,
        "offers": {"@type": "Offer", "price": variant.price, "priceCurrency": "GBP"},
    }
    rows = ((variant.label, variant.value), ("Price", f"£{variant.price}"))
    table = "\n".join(f"<tr><th>{esc(name)}</th><td>{esc(value)}</td></tr>" for name, value in rows)
    return sheet(
        variant.path + (f"?{query}" if query else ""),
        "tracking" if query else "product",
        variant.heading,
        variant.text,
        links=[Link(other.path, other.value) for other in family if other != variant],
        extra=f'<table class="facts">\n{table}\n</table>',
        extra_said="\n".join(value for _, value in rows),
        facts=facts,
        canonical=variant.path,
        family=f"product:{variant.family}",
        role="" if query else "product",
    )
