"""The pages of stores that are damaged: one of them, its copy, and others that have nothing to do with it."""

from __future__ import annotations

from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store import Claim, Posting
from tests.store.cases import content, own_part, posting

FAR = content(0xFFFF_0000_FFFF_0000, text="far")


def page(key: str, what: int | Fingerprint, is_short: bool = False) -> Posting:
    return posting(key, what, is_short=is_short, text_hash=abs(hash(what)), seen=1)


def with_own(value: int, own: int, edited: int = 0) -> Fingerprint:
    return Fingerprint(value, sketch=content(value, edited).sketch, own=own_part(own, edited))


#: a is damaged; b repeats it, and differs a little. c, which had another content before, and d, its copy, and the
#: short pages have nothing to do with them.
PAGES = (
    page("a", with_own(0, own=1 << 60)),
    page("b", with_own(1, own=1 << 60 | 1, edited=9)),
    page("c", content(0xF0F0, text="before")),
    page("c", FAR),
    page("d", FAR),
    page("e", 7, is_short=True),
    page("f", 7, is_short=True),
)
#: What pages that are neither a nor like it are asked for, and one that is new.
OTHERS = (
    *PAGES[3:],
    page("g", content(FAR.value ^ 1, 5, text="far")),
    page("h", content(0xAAAA, text="other")),
)


def told(claim: Claim) -> tuple[object, ...]:
    """Return what a page is told, without numbers that new pages have."""
    former = claim.former and claim.former._replace(content=0)
    return (former, claim.original, claim.distance, claim.similarity, claim.is_same_text, claim.rank)
