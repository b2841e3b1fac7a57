"""Made-up sites whose parameters have an effect on some pages, or an unusual form; each from a description."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import cache
from random import Random
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

SYLLABLES = "ba do fe gi ku la me no pi ra so tu va wi zo ren tal mor ken dis".split()
MONTHS = "January February March April May June July August September October November December".split()


@cache
def words(seed: str, number: int) -> str:
    """Return made-up words, different for each *seed*."""
    random = Random(seed)
    return " ".join("".join(random.choices(SYLLABLES, k=random.randint(2, 3))) for _ in range(number))


class Page(NamedTuple):
    """A page of a site. The same page at two URLs has the same key."""

    key: str
    text: str
    links: Sequence[str] = ()
    head: str = ""
    script: str = ""
    label: str = ""
    """The text of its links."""


class AwkwardSite:
    """Answers the URLs of a site of one *kind*, a name in `KINDS`."""

    def __init__(self, kind: str, size: int = 300) -> None:
        self.size, self.random = size, Random(1)
        self._answer, self._keys = KINDS[kind]

    def answer(self, url: str) -> tuple[str, str]:
        """Return the key of the page at *url*, and its HTML."""
        parts = urlsplit(url)
        page = self._answer(self, parts.path, dict(parse_qsl(parts.query)))
        anchors = "".join(
            f'<a href="{each.replace("&", "&amp;")}">{page.label or words(each, 1)}</a>'
            for each in page.links
        )
        title = page.head or words(page.key, 3)
        return (
            page.key,
            f"<title>{title}</title>{page.script}<main><h1>{title}</h1>{page.text}</main>{anchors}",
        )

    def keys(self) -> set[str]:
        return set(self._keys(self))

    # Kinds of sites: how each answers, and its keys.

    def print_view(self, path: str, query: Mapping[str, str]) -> Page:
        """Items, each linked only from the previous item, with print views that have no links."""
        number = int(path[6:] or 0) if path != "/" else 0
        following = [f"/item/{number + 1}"] if number + 1 < self.size else []
        links = [*following, f"/item/{number}?print=1"]
        # Of later items, the print view may be found first.
        if number > self.size // 2:
            links = [*following, *(f"{each}?print=1" for each in following)]
        key, text = f"/item/{number}", _prose(f"item {number}")
        if "print" in query:
            return Page(key, text)
        return Page(key, text, links, script=f"<script>{words('script', 300)}</script>")

    def sorted_pages(self, path: str, query: Mapping[str, str]) -> Page:
        """Lists in pages that can be sorted; the first page has two URLs."""
        if path.startswith("/item/"):
            return Page(path, _prose(path))
        if path == "/":
            return Page("/", _prose("home"), [f"/list/{number}" for number in range(self.size // 10)])
        number, page, sort = int(path[6:]), int(query.get("page", 1)), query.get("sort", "")
        items = Random(f"{number}{sort}").sample(range(60), 60)[10 * page - 10 : 10 * page]
        links = [f"/item/{60 * number + item}" for item in items]
        order = f"&sort={sort}" if sort else ""
        links += [f"{path}?page={other}{order}" for other in range(1, 7)]
        links += [f"{path}?sort={other}" for other in ("name", "price")]
        text = "".join(f"<p>{words(each, 9)}</p>" for each in links[:10])
        return Page(f"{path} {page} {sort}", text, links, f"List {number}")

    def sorted_keys(self) -> Iterator[str]:
        for number in range(self.size // 10):
            yield from (f"/item/{60 * number + item}" for item in range(60))
            for page in range(1, 7):
                yield from (f"/list/{number} {page} {sort}" for sort in ("", "name", "price"))

    def language(self, path: str, query: Mapping[str, str]) -> Page:
        """Items with links to two other languages; a tenth of the items are translated."""
        language = query.get("lang", "")
        key = f"{path} {language}" if _is_translated(path) and language else path
        more = [f"{path}?lang={other}" for other in ("de", "fr")]
        return Page(key, _prose(key), [*self._all(path), *(more if path != "/" else ())])

    def language_keys(self) -> Iterator[str]:
        for path in self._all("/"):
            yield from ([path, f"{path} de", f"{path} fr"] if _is_translated(path) else [path])

    def variants(self, path: str, query: Mapping[str, str]) -> Page:
        """Products whose variants differ in price and colour."""
        variant = int(query.get("variant", 0))
        text = _prose(path) + f"<p>Colour: {words(f'c{variant}', 1)}</p><p>Price: {200 + variant}.00</p>"
        more = [f"{path}?variant={other}" for other in range(1, 6)]
        return Page(f"{path} {variant}", text, [*self._all(path), *(more if path != "/" else ())], path)

    def variant_keys(self) -> Iterator[str]:
        for path in self._all("/"):
            yield from (f"{path} {variant}" for variant in range(6))

    def views(self, path: str, query: Mapping[str, str]) -> Page:
        """Lists as a grid or as a list."""
        if path.startswith("/item/") or path == "/":
            lists = [f"/list/{number}" for number in range(self.size)] if path == "/" else []
            return Page(path, _prose(path), lists)
        tag = "div" if query.get("view") == "grid" else "p"
        items = [f"/item/{int(path[6:]) * 3 + each}" for each in range(3)]
        text = "".join(f"<{tag}>{words(each, 20)}</{tag}>" for each in items)
        return Page(path, text, [*items, *(f"{path}?view={view}" for view in ("grid", "list"))])

    def views_keys(self) -> Iterator[str]:
        for number in range(self.size):
            yield from (f"/list/{number}", *(f"/item/{number * 3 + each}" for each in range(3)))

    def path_session(self, path: str, query: Mapping[str, str]) -> Page:
        """Items whose links have a fresh session id in their path."""
        path = path.partition(";")[0]
        number = int(path[6:] or 0) if path != "/" else 0
        links = [f"/item/{(number + step) % self.size}" for step in (1, 7, 31)]
        return Page(
            path, _prose(path), [f"{each};jsessionid={self.random.getrandbits(64):X}" for each in links]
        )

    def months_in_seconds(self, path: str, query: Mapping[str, str]) -> Page:
        """A calendar with seconds since 1970 in its query."""
        date = datetime.fromtimestamp(int(query.get("time", 1_714_521_600)), timezone.utc)
        at = 12 * date.year + date.month - 1
        first = [datetime(each // 12, each % 12 + 1, 1, tzinfo=timezone.utc) for each in (at - 1, at + 1)]
        return _month(at, [f"/?time={int(each.timestamp())}&view=month" for each in first])

    def month_keys(self) -> Iterator[str]:
        return (f"month {12 * 2024 + month}" for month in range(12))

    def item_keys(self) -> Iterator[str]:
        return (f"/item/{number}" for number in range(self.size))

    def _all(self, path: str) -> list[str]:
        return [f"/item/{number}" for number in range(self.size)] if path == "/" else []


Answer = Callable[[AwkwardSite, str, Mapping[str, str]], Page]
#: Kinds of sites: how a page is answered, and the keys.
KINDS: dict[str, tuple[Answer, Callable[[AwkwardSite], Iterator[str]]]] = {
    "print view without links": (AwkwardSite.print_view, AwkwardSite.item_keys),
    "pages of sorted lists": (AwkwardSite.sorted_pages, AwkwardSite.sorted_keys),
    "language of some pages": (AwkwardSite.language, AwkwardSite.language_keys),
    "variants of a product": (AwkwardSite.variants, AwkwardSite.variant_keys),
    "grid or list": (AwkwardSite.views, AwkwardSite.views_keys),
    "session in the path": (AwkwardSite.path_session, AwkwardSite.item_keys),
    "months in seconds": (AwkwardSite.months_in_seconds, AwkwardSite.month_keys),
}


def _prose(seed: str) -> str:
    return "".join(f"<p>{words(f'{seed} {part}', 40)}</p>" for part in range(3))


def _is_translated(path: str) -> bool:
    return path != "/" and Random(path).random() < 0.1


def _month(at: int, links: Sequence[str]) -> Page:
    year, month = divmod(at, 12)
    has_events = year == 2024
    text = words(f"event {at}", 30) if has_events else "There are no events. Do you know of one?"
    key = f"month {at}" if has_events else "no events"
    return Page(key, f"<p>{text}</p>", links, f"Events in {MONTHS[month]} {year}", label="More events")
