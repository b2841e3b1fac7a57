"""Read truth.json, and answer for any two URLs of the site what a near-duplicate detector ought to conclude.

The rules stand in `magazine.relation`, the layout of the file in the project's README.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from magazine.page import Address
from magazine.relation import Expected, PageTruth, Relation, judge

TRUTH_FILE = Path(__file__).parent / "truth.json"


class Truth:
    """What is so about the pages of the site. A page is named by its key in truth.json or by its full URL."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.pages = {key: PageTruth(**page) for key, page in document["pages"].items()}
        self._shares = {frozenset(pair): share for *pair, share in document["shares"]}

    @classmethod
    def load(cls, path: Path = TRUTH_FILE) -> "Truth":
        """Read truth.json."""
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
        return judge(self.pages[a], self.pages[b], self._equal(a, b))

    def pairs(self, expected: Expected | None = None) -> Iterator[tuple[str, str, Relation]]:
        """Yield every two content pages that may be crawled, as (key, key, relation); optionally of one outcome.

        O(pages²): some twenty thousand pairs.
        """
        content = [key for key, page in self.pages.items() if page.status == "content" and page.crawl]
        for a, b in combinations(content, 2):
            relation = judge(self.pages[a], self.pages[b], self._equal(a, b))
            if expected is None or relation.expected == expected:
                yield a, b, relation

    def _equal(self, a: str, b: str) -> float:
        a, b = self.pages[a].text, self.pages[b].text
        return 1.0 if a == b else self._shares.get(frozenset((a, b)), 0.0)
