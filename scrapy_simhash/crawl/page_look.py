"""PageLooks: what of a page says whether it is evidence for URL rules; read only when a rule asks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

from scrapy_simhash.judge.hints import is_listing, is_product, makes_offer
from scrapy_simhash.observers.url_rules import FETCHED, MISSING, Look
from scrapy_simhash.recent import Recent
from scrapy_simhash.verdict import Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_simhash.fingerprinter import PageFingerprinter
    from scrapy_simhash.observers.url_rules import Looks
    from scrapy_simhash.verdict import Verdict

#: Clusters of which it is remembered what their pages are; the oldest goes.
MOST_CLUSTERS = 1_000
#: Reasons for which a page that is fetched and delivered has no verdict.
_FETCHED = (Reason.SHORT_TEXT, Reason.NOT_HTML, Reason.TOO_LARGE)
_GONE = (404, 410)
_MOST_CLUSTER = 2**32 - 2
_PLAIN, _BARRED = Look(), Look(is_barred=True)


class PageLooks:
    """Looks at pages, and at one page of a cluster only, unless it is a listing. Some milliseconds a look."""

    def __init__(self, fingerprinter: PageFingerprinter) -> None:
        self._fingerprinter = fingerprinter
        self._seen: Recent[tuple[int | None, bool], Look] = Recent(MOST_CLUSTERS)

    def at(self, verdict: Verdict, tree: Callable[[], Any]) -> Looks:
        """Return what looks at the page with *verdict*; *tree* returns its lxml tree, which is only read."""
        return partial(self._look, verdict, tree)

    def _look(self, verdict: Verdict, tree: Callable[[], Any], any_variant: bool) -> Look:
        """Return what is seen of a page.

        The text of a listing is often the same while its links are not, so what its links say counts. A translation
        is no evidence, nor is a variant of a product, but with *any_variant*.
        """
        if verdict.reason is Reason.NOT_HTML:
            return _PLAIN
        if "hreflang" in verdict.hints:
            return _BARRED
        key = verdict.cluster, any_variant
        seen = self._seen.get(key)
        if seen is not None:
            return seen
        root = tree()
        if is_listing(root):
            said = sorted(" ".join("".join(link.itertext()).split()) for link in root.iter("a"))
            return Look(links=crc32("\n".join(said).encode("utf-8", "replace")) or 1)
        is_variant = not any_variant and (is_product(root) or makes_offer(self._fingerprinter.extract(root)))
        seen = self._seen[key] = _BARRED if is_variant else _PLAIN
        return seen


def evidence_of(verdict: Verdict, status: int, body: bytes) -> int | None:
    """Return what the page with *verdict*, HTTP *status* and *body* is, as URL rules learn it.

    That is its cluster; a hash of its bytes if it is not HTML; `FETCHED` if it is no evidence, `MISSING` if it is not
    there. None for a page that says nothing, and that has to be fetched again: it came with an error, is not
    complete, or has no verdict.
    """
    if status in _GONE:
        return MISSING
    if verdict.reason is Reason.NOT_HTML and body:
        return 1 + crc32(body) % _MOST_CLUSTER
    if verdict.cluster is None or verdict.reason is Reason.SHORT_TEXT:
        return FETCHED if verdict.reason in _FETCHED else None
    return 1 + verdict.cluster % _MOST_CLUSTER
