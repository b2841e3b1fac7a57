"""Savings: what was dropped, and what each other action would have dropped."""

from __future__ import annotations

from typing import Any

from scrapy_simhash.view.overview.line import kept


class Savings:
    """Counts the pages that repeat another one, by what was done about them, and what they led to.

    The links of near-duplicates lead to pages that a crawl without them would not have asked for: those whose referer
    is a near-duplicate, or another page that only such a one led to. Some of them may be linked from elsewhere too,
    so it is the most that can be lost.
    """

    def __init__(self, most_pages: int) -> None:
        #: Hashes of near-duplicates, and of pages that these led to.
        self._behind: set[int] = set()
        self._most_pages = most_pages
        self.is_full = False
        self.repeats = 0
        self.identical = 0
        self.unchanged = 0
        self.with_referer = 0
        #: Pages behind near-duplicates, and those of them that are new.
        self.led_to = 0
        self.led_to_new = 0
        self.example: dict[str, str | None] | None = None

    def add(
        self, url: str, status: str, first: str | None, is_same_text: bool, reason: object, referer: object
    ) -> None:
        """Take the page at *url*, which repeats *first* if that is not None, and was linked from *referer*."""
        is_behind = False
        if isinstance(referer, str):
            self.with_referer += 1
            is_behind = hash(referer) in self._behind
        if is_behind:
            self.led_to += 1
            if status == "new":
                self.led_to_new += 1
                self.example = self.example or {"url": url, "other": kept(str(referer))}
        if first is not None:
            self.repeats += 1
            self.identical += is_same_text
        elif reason in ("unchanged", "delivered"):
            self.unchanged += 1
        if is_behind or first is not None:
            if len(self._behind) < self._most_pages:
                self._behind.add(hash(url))
            else:
                self.is_full = True

    def as_dict(self) -> dict[str, Any]:
        """Return the counts, as JSON has them."""
        return {
            "near_duplicates": self.repeats,
            "identical": self.identical,
            "unchanged": self.unchanged,
            "led_to": self.led_to if self.with_referer else None,
            "led_to_new": self.led_to_new if self.with_referer else None,
            "led_to_example": self.example,
        }
