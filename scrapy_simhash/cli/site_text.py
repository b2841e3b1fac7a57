"""Which text of a page is its site's, and what is left of two pages without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from scrapy_simhash.display import printable
from scrapy_simhash.page.fingerprint import DOUBTFUL, UNKNOWN, Fingerprint, OwnPart, are_different, similarity
from scrapy_simhash.page.pieces import OF_SITE, pieces
from scrapy_simhash.page.text import Document

if TYPE_CHECKING:
    from scrapy_simhash.page.site import SiteProfile


class Unknown:
    """A site of which nothing is known, as for the first page of a crawl. Imports no store."""

    is_known = False

    def flags(self, keys: bytes) -> bytes | None:
        """Return None: nothing is known to be the site's."""
        return None


def site_text(document: Document, site: SiteProfile) -> list[dict[str, Any]]:
    """Return the pieces of *document* that are the site's text, or may be, in their order."""
    parts, subjects = pieces(document), dict(site.known())
    flags = (
        site.flags(b"".join(piece.key.to_bytes(8, "little") for piece in parts)) if site.is_known else None
    )
    return [
        {"text": " ".join(piece.tokens), "is_site": flag == OF_SITE, "subjects": subjects.get(piece.key)}
        for piece, flag in zip(parts, flags or bytes(len(parts)), strict=True)
        if flag
    ]


def own_tokens(fingerprint: Fingerprint | None) -> int | None:
    """Return how many words of a page are not its site's; None if that is not known."""
    own = _own(fingerprint)
    return None if own is None or own.kind in (UNKNOWN, DOUBTFUL) else own.tokens


def own_similarity(a: Fingerprint, b: Fingerprint) -> float | None:
    """Return the similarity of two own parts, 0-1; None if one is not known."""
    minhashes = []
    for page in (a, b):
        own = _own(page)
        if own is None or own.kind in (UNKNOWN, DOUBTFUL):
            return None
        minhashes.append(own.minhash or page.sketch)
    return round(similarity(*minhashes), 3)


def names_different_things(a: Fingerprint | None, b: Fingerprint | None) -> bool:
    """Tell whether structured data says that two pages are about different things."""
    ours, theirs = _own(a), _own(b)
    return ours is not None and theirs is not None and are_different(ours.identity, theirs.identity)


def _own(fingerprint: Fingerprint | None) -> OwnPart | None:
    return OwnPart.from_bytes(fingerprint.own) if fingerprint is not None and fingerprint.own else None


def site_rows(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the pieces of both pages, each once: on pages of how many subjects it stood, or a question mark."""
    found = {piece["text"]: piece for page in facts["pages"] for piece in page["site_text"]}
    for text, piece in found.items():
        yield str(piece["subjects"]) if piece["is_site"] else "?", printable(text)
