"""Tag paths: how a page is built, whatever it says. Pages of one template have nearly the same ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scrapy_simhash.page.schemes.kinds.feature_kind import Page
from scrapy_simhash.page.text.walk import Walk


@dataclass(frozen=True)
class TagPaths:
    """The tags from the root to every element: ``path html/body/main/p``."""

    depth: int = 32
    """Elements deeper than so many levels are left out: a hostile page may have millions of levels."""

    def __call__(self, page: Page) -> Iterator[str]:
        """Yield a path for each element, in order. Plain text has none."""
        if page.root is None:
            return
        tags: list[str] = []
        walk = Walk(page.root)
        for event, element in walk:
            if event == "start":
                tags.append(str(element.tag))
                walk.skips = len(tags) == self.depth
                yield f"path {'/'.join(tags)}"
            elif event == "end":
                tags.pop()
