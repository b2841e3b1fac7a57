"""The slip board: small advertisements, each an item, and lists that say the same and lead to different ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from magazine.records import read_pairs
from magazine.templates.markup import Link, esc

from tests.annex.page import AnnexPage, pager, sheet
from tests.annex.standing import CONTENT, read_text

BOARD = "/annex/slip"
KINDS = "/annex/slip/kinds"
DIGEST = "/annex/slip/digest"

_PER_DIGEST = 9


@dataclass(frozen=True)
class Card:
    """A thing on offer. *place* is where its page is linked: a page of the board, a drawer, or `digest`.

    *repeats* names the card of which it is a second writing, word for word or nearly.
    """

    name: str
    place: str
    price: str
    title: str
    body: str
    repeats: str = ""

    @property
    def path(self) -> str:
        """The path of its page."""
        return f"{BOARD}/card/{self.name}"


@cache
def load_cards() -> dict[str, Card]:
    """Return the cards by name, those written a second time last."""
    cards = {}
    for name, rest in read_pairs("cards.txt", ":", CONTENT):
        place, price, title, body = (part.strip() for part in rest.split("|"))
        cards[name] = Card(name, place, price, title, body)
    for name, rest in read_pairs("reposts.txt", ":", CONTENT):
        first, price, change = (part.strip() for part in rest.split("|"))
        body = cards[first].body
        if change:
            old, _, new = change.partition(" => ")
            if old not in body:
                raise ValueError(f"reposts.txt: {first} does not say {old!r}")
            body = body.replace(old, new)
        cards[name] = Card(name, "digest", price, cards[first].title, body, repeats=first)
    return cards


def slip_pages() -> Iterator[AnnexPage]:
    """Yield the board, the drawers, the pages with whole cards on them, then a page for each card."""
    yield from _board()
    yield from _drawers()
    yield from _digests()
    for card in load_cards().values():
        yield sheet(
            card.path,
            "card" if not card.repeats else "repost",
            card.title,
            "",
            extra=f'<p class="price">{esc(card.price)}</p>\n<p class="body">{esc(card.body)}</p>',
            extra_said=f"{card.price}\n{card.body}",
            family=f"card:{card.repeats or card.name}",
            items=[card.name],
        )


def _board() -> Iterator[AnnexPage]:
    title, text = read_text("standing/board")
    numbers = sorted({card.place for card in load_cards().values() if card.place.isdigit()}, key=int)
    paths = [BOARD if number == "1" else f"{BOARD}?page={number}" for number in numbers]
    for number, (path, previous, following) in enumerate(_beside(paths), start=1):
        head, links = pager(previous, following)
        links += _links(str(number))
        page = f"{text}\nThis is page {number} of {len(paths)}."
        yield sheet(path, "board", title, page, links=links, head=head, family="board", role="pagination")


def _drawers() -> Iterator[AnnexPage]:
    title, text = read_text("standing/kinds")
    drawers = list(dict.fromkeys(card.place for card in load_cards().values() if card.place.isalpha()))
    drawers.remove("digest")
    links = [Link(f"{KINDS}/{drawer}", drawer.capitalize()) for drawer in drawers]
    yield sheet(KINDS, "drawer", title, text, links=links, family="drawer", role="listing")
    for drawer in drawers:
        path = f"{KINDS}/{drawer}"
        yield sheet(path, "drawer", title, text, links=_links(drawer), family="drawer", role="listing")


def _digests() -> Iterator[AnnexPage]:
    cards = [card for card in load_cards().values() if not card.repeats]
    parts = [cards[start : start + _PER_DIGEST] for start in range(0, len(cards), _PER_DIGEST)]
    paths = [DIGEST, *(f"{DIGEST}?page={number}" for number in range(2, len(parts) + 1))]
    for part, (path, previous, following) in zip(parts, _beside(paths), strict=True):
        names = [card.name for card in part]
        head, links = pager(previous, following)
        links += [
            Link(card.path, f"Again: {card.title}") for card in load_cards().values() if card.repeats in names
        ]
        entries = "\n".join(
            f'<section class="card">\n<h2>{esc(card.title)}</h2>\n<p class="price">{esc(card.price)}</p>\n'
            f'<p class="body">{esc(card.body)}</p>\n</section>'
            for card in part
        )
        said = "\n".join(f"{card.title}\n{card.price}\n{card.body}" for card in part)
        title = "The board, read aloud"
        yield sheet(
            path,
            "digest",
            title,
            "",
            links=links,
            extra=entries,
            extra_said=said,
            head=head,
            role="listing",
            items=names,
        )


def _links(place: str) -> list[Link]:
    return [Link(card.path, card.title) for card in load_cards().values() if card.place == place]


def _beside(paths: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each path with the one before it and the one after it, empty at the ends."""
    return zip(paths, ["", *paths[:-1]], [*paths[1:], ""], strict=True)
