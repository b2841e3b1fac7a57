"""Read truth.json, and answer for any two URLs of the site what a near-duplicate detector ought to conclude.

    python -m magazine.truth            check truth.json against the site (run in example_project/)
    python -m magazine.truth --write    make it anew

The rules stand in `magazine.relation`, the layout of the file in the project's README.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

from magazine.page import Address
from magazine.relation import Expected, PageTruth, Relation, judge
from magazine.site import build_site
from magazine.survey import Group, Shares, close_texts, survey_groups, survey_pages

TRUTH_FILE = Path(__file__).parent / "truth.json"
VERSION = 1

# Two different stories in one language share up to six words in ten, the small ones; only more than this is news.
_LEAST_LISTED = 0.80


class Truth:
    """What is so about the pages of the site. A page is named by its key in truth.json or by its full URL."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        if document["version"] != VERSION:
            raise ValueError(f"truth.json has version {document['version']}, expected {VERSION}")
        self.pages: Mapping[str, PageTruth] = {
            key: self._read_page(page) for key, page in document["pages"].items()
        }
        self.groups: list[Group] = [Group(**(g | {"urls": tuple(g["urls"])})) for g in document["groups"]]

    @classmethod
    def load(cls, path: Path = TRUTH_FILE) -> "Truth":
        """Read truth.json. Raises ValueError for another version of the format."""
        return cls(json.loads(path.read_text(encoding="utf-8")))

    def key(self, url: str) -> str:
        """Return the key of a URL of the running site, whatever its port. Raises KeyError for an unknown page."""
        key = Address.of(url).key
        if key not in self.pages:
            raise KeyError(f"no page {key!r} in truth.json")
        return key

    def page(self, url: str) -> PageTruth:
        """Return what is known of one page. Raises KeyError for an unknown one."""
        return self.pages[self.key(url)]

    def relation(self, a: str, b: str) -> Relation:
        """Return what to conclude about two pages; the order does not matter.

        Raises KeyError for an unknown page, ValueError if both are the same page: that is a revisit.
        """
        a, b = self.key(a), self.key(b)
        if a == b:
            raise ValueError(f"{a!r} twice: a page is not a duplicate of itself")
        return self._judge(a, b)

    def equal(self, a: str, b: str) -> float:
        """Return the share (0-1) of words the main texts of two pages have in common, read from the content."""
        a, b = self.pages[self.key(a)].text, self.pages[self.key(b)].text
        if a == b:
            return 1.0
        return self._shares.between(a, b) if a and b else 0.0

    def pairs(self, expected: Expected | None = None) -> Iterator[tuple[str, str, Relation]]:
        """Yield every two content pages that may be crawled, as (key, key, relation); optionally of one outcome.

        O(pages²): some twenty thousand pairs, about a second.
        """
        content = [key for key, page in self.pages.items() if page.status == "content" and page.crawl]
        for a, b in combinations(content, 2):
            relation = self._judge(a, b)
            if expected is None or relation.expected == expected:
                yield a, b, relation

    def duplicates_of(self, url: str) -> dict[str, Relation]:
        """Return the pages that are duplicates of this one, by key; empty if there are none."""
        own = self.key(url)
        relations = {key: self._judge(own, key) for key in self.pages if key != own}
        return {key: relation for key, relation in relations.items() if relation.expected == "duplicate"}

    def _read_page(self, entry: Mapping[str, Any]) -> PageTruth:
        return PageTruth(**entry)

    def _judge(self, a: str, b: str) -> Relation:
        return judge(self.pages[a], self.pages[b], self.equal(a, b))

    @cached_property
    def _shares(self) -> Shares:
        return Shares(build_site())


def make_document() -> dict[str, Any]:
    """Return the whole content of truth.json, measured from the site as it is now."""
    site = build_site()
    pages, shares = survey_pages(site), Shares(site)
    listed = close_texts(pages, shares, _LEAST_LISTED)
    return {
        "version": VERSION,
        "pages": {key: _sparse(page) for key, page in pages.items()},
        "groups": [asdict(group) | {"urls": list(group.urls)} for group in survey_groups(pages, shares)],
        "shares": [[a, b, round(share, 4)] for (a, b), share in listed.items()],
    }


def dumps(document: Mapping[str, Any]) -> str:
    """Return the text of truth.json: one page, group or share a line, so that a change shows as a line."""
    pages = ",\n".join(f"  {_line(key)}: {_line(page)}" for key, page in document["pages"].items())
    groups = ",\n".join(f"  {_line(group)}" for group in document["groups"])
    shares = ",\n".join(f"  {_line(share)}" for share in document["shares"])
    return (
        f'{{"version": {document["version"]},\n"pages": {{\n{pages}\n}},\n'
        f'"groups": [\n{groups}\n],\n"shares": [\n{shares}\n]}}\n'
    )


def _line(value: Any) -> str:
    """Return *value* as one line of JSON."""
    return json.dumps(value, ensure_ascii=False)


def _sparse(page: Any) -> dict[str, Any]:
    """Return the fields of the dataclass *page* that have not their default value."""
    return {
        field.name: value for field in fields(page) if (value := getattr(page, field.name)) != field.default
    }


def _check_or_write(arguments: list[str] | None) -> bool:
    """Compare truth.json with the site, or write it; return whether they are equal now."""
    parser = argparse.ArgumentParser(
        prog="python -m magazine.truth", description="Check or write truth.json."
    )
    parser.add_argument("--write", action="store_true", help="write the file instead of checking it")
    write: bool = parser.parse_args(arguments).write
    text = dumps(make_document())
    if write:
        TRUTH_FILE.write_text(text, encoding="utf-8")
    elif TRUTH_FILE.read_text(encoding="utf-8") != text:
        print(
            "truth.json is not what the site says now; look at the content, then run with --write",
            file=sys.stderr,
        )
        return False
    return True


def main(arguments: list[str] | None = None) -> int:
    """Check truth.json, or write it; return the exit status."""
    if not _check_or_write(arguments):
        return 1
    truth = Truth.load()
    duplicates = sum(1 for _ in truth.pairs("duplicate"))
    print(f"{len(truth.pages)} pages, {len(truth.groups)} groups, {duplicates} pairs of duplicates")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
