"""Read the annex's truth.json: what each page is, and what would be lost with it.

    python -m tests.annex.truth            check truth.json against the annex; needs PYTHONPATH=example_project
    python -m tests.annex.truth --write    make it anew

The rules stand in `tests.annex.survey`, the layout of the file in `README.md` beside this.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from magazine.relation import Relation
from magazine.survey import Shares
from magazine.truth import Truth
from magazine.truth_file import check_or_write, line, sparse

from tests.annex import endless
from tests.annex.site import STARTS, build_annex
from tests.annex.survey import AnnexPageTruth, annex_groups, annex_items, judge_annex, survey_annex, walk

TRUTH_FILE = Path(__file__).parent / "truth.json"
VERSION = 1

_ENDLESS = (
    {"kind": "month", "start": endless.ALMANAC, "prefix": f"{endless.ALMANAC}/", "links": 2},
    {"kind": "finder", "start": endless.FINDER, "prefix": endless.FINDER, "links": len(endless.FACTS)},
)


@dataclass(frozen=True)
class Item:
    """A card of the slip board. *equal* is the share (0-1) of words it has in common with the card it *repeats*."""

    title: str
    price: str
    repeats: str = ""
    equal: float = 0.0


@dataclass(frozen=True)
class Endless:
    """A part without end: every page whose path begins with *prefix* has *links* more of its *kind*."""

    kind: str
    start: str
    prefix: str
    links: int


class AnnexTruth(Truth):
    """What is so about the annex; its pages are compared as `Truth` compares those of the magazine."""

    pages: Mapping[str, AnnexPageTruth]

    def __init__(self, document: Mapping[str, Any]) -> None:
        super().__init__(document)
        self.starts: tuple[str, ...] = tuple(document["starts"])
        self.items: dict[str, Item] = {name: Item(**item) for name, item in document["items"].items()}
        self.endless: list[Endless] = [Endless(**part) for part in document["endless"]]

    @classmethod
    def load(cls, path: Path = TRUTH_FILE) -> "AnnexTruth":
        """Read truth.json. Raises ValueError for another version of the format."""
        return cls(json.loads(path.read_text(encoding="utf-8")))

    def page(self, url: str) -> AnnexPageTruth:
        """Return what is known of one page. Raises KeyError for an unknown one."""
        return self.pages[self.key(url)]

    def of(self, *, kind: str = "", role: str = "", family: str = "") -> list[str]:
        """Return the keys of the pages of a kind, of a role, of a family, or of all those that are named; sorted."""
        return [
            key
            for key, page in self.pages.items()
            if kind in ("", page.kind) and role in ("", page.role) and family in ("", page.family)
        ]

    def reachable(self, *starts: str, without_links_of: Collection[str] = ()) -> dict[str, int]:
        """Return what a crawl from *starts*, else from the start page, can come to, with the least number of links.

        The links of the pages in *without_links_of* are not followed, save the one to the start page. Redirects are
        followed, and not among what is returned.

        >>> annex = AnnexTruth.load()
        >>> whole, cut = annex.reachable(), annex.reachable(without_links_of=["/annex/walk/1"])
        >>> sorted(whole.keys() - cut)[:2]
        ['/annex/walk/1/again', '/annex/walk/1/tin-book']
        """
        begin = [self.key(start) for start in starts] or [self.starts[0]]
        cut = {self.key(url) for url in without_links_of}
        links = {key: (() if key in cut else page.links) for key, page in self.pages.items()}
        links = {key: (*found, self.starts[0]) for key, found in links.items()}
        leads_to = {key: page.leads_to for key, page in self.pages.items() if page.leads_to}
        found = walk(links, leads_to, begin)
        return {key: depth for key, depth in found.items() if key not in leads_to}

    def items_on(self, urls: Collection[str]) -> set[str]:
        """Return the names of the items on these pages."""
        return {name for url in urls for name in self.page(url).items}

    def _read_page(self, entry: Mapping[str, Any]) -> AnnexPageTruth:
        lists = {name: tuple(value) for name, value in entry.items() if isinstance(value, list)}
        return AnnexPageTruth(**{**entry, **lists})

    def _judge(self, a: str, b: str) -> Relation:
        return judge_annex(self.pages[a], self.pages[b], self.equal(a, b))

    @cached_property
    def _shares(self) -> Shares:
        return Shares(build_annex())


def make_document() -> dict[str, Any]:
    """Return the whole content of truth.json, measured from the annex as it is now."""
    annex = build_annex()
    pages = survey_annex(annex, STARTS[0])
    return {
        "version": VERSION,
        "starts": list(STARTS),
        "pages": {key: sparse(page) for key, page in pages.items()},
        "groups": [
            asdict(group) | {"urls": list(group.urls)} for group in annex_groups(pages, Shares(annex))
        ],
        "items": annex_items(),
        "endless": list(_ENDLESS),
    }


def dumps(document: Mapping[str, Any]) -> str:
    """Return the text of truth.json: one page, group or item a line."""
    parts = [f'"{name}": {line(document[name])}' for name in ("version", "starts")]
    for name in ("pages", "items"):
        entries = ",\n".join(f"  {line(key)}: {line(value)}" for key, value in document[name].items())
        parts.append(f'"{name}": {{\n{entries}\n}}')
    for name in ("groups", "endless"):
        entries = ",\n".join(f"  {line(value)}" for value in document[name])
        parts.append(f'"{name}": [\n{entries}\n]')
    return "{" + ",\n".join(parts) + "}\n"


def main(arguments: list[str] | None = None) -> int:
    """Check truth.json, or write it; return the exit status."""
    if not check_or_write(TRUTH_FILE, lambda: dumps(make_document()), "tests.annex.truth", arguments):
        return 1
    truth = AnnexTruth.load()
    duplicates = sum(1 for _ in truth.pairs("duplicate"))
    print(f"{len(truth.pages)} pages, {len(truth.groups)} groups, {duplicates} pairs of duplicates")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
