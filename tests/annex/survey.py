"""Make the truth about the annex: what each page says, where it leads, and what nobody else leads to.

Counted from the content, as `magazine.survey` does for the magazine. Whether two pages are duplicates, the first rule
that fits decides:

    1. one of them is not content (short, error, redirect)       unscored    kind: its status
    2. variants of one product                                   unscored    product
       (a detector may call them near-duplicates; a shop sells them apart)
    3. of one family otherwise: at least .95 of the words equal  duplicate   kind: the family's
                                less                             unscored
    4. of different families: at least .99 equal                 duplicate   unrelated
                              .90 to .99                         unscored
                              less                               different
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from magazine.page import Address
from magazine.relation import CLOSE, KIN, SAME, PageTruth, Relation, grade
from magazine.survey import Group, Shares, clique, survey_pages
from magazine.words import equal_share

from tests.annex.page import AnnexPage
from tests.annex.slip import load_cards


@dataclass(frozen=True)
class AnnexPageTruth(PageTruth):
    """What truth.json says of a page of the annex.

    *depth* counts the links from the start page, None if no link leads here; a redirect costs nothing. *links* are
    the pages that this one links to, *only_here* those of them to which no other page links. See `AnnexPage` for
    *items*, *role* and *canonical*. *leads_to* is where a redirect goes.
    """

    depth: int | None = None
    links: tuple[str, ...] = ()
    only_here: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    role: str = ""
    canonical: str = ""
    leads_to: str = ""


def survey_annex(annex: Mapping[Address, AnnexPage], start: str) -> dict[str, AnnexPageTruth]:
    """Return what there is to say about each page, by key, sorted."""
    by_key = {address.key: page for address, page in annex.items()}
    links = {key: tuple(to for to in page.links if to != key) for key, page in by_key.items()}
    leads_to = {key: page.location for key, page in by_key.items() if page.location}
    depths = walk(links, leads_to, [start])
    linked = Counter(to for found in links.values() for to in set(found))
    return {
        key: AnnexPageTruth(
            **vars(facts),
            depth=depths.get(key),
            links=links[key],
            only_here=tuple(to for to in links[key] if linked[to] == 1),
            items=by_key[key].items,
            role=by_key[key].role,
            canonical=by_key[key].canonical,
            leads_to=leads_to.get(key, ""),
        )
        for key, facts in survey_pages(annex).items()
    }


def walk(
    links: Mapping[str, Iterable[str]], leads_to: Mapping[str, str], starts: Iterable[str]
) -> dict[str, int]:
    """Return every page that links lead to from *starts*, redirects among them, with its least number of links."""
    depths = dict.fromkeys(starts, 0)
    waiting = deque(depths)
    while waiting:
        key = waiting.popleft()
        onward = leads_to.get(key)
        found = links.get(key, ()) if onward is None else [onward]
        for to in found:
            depth = depths[key] + (onward is None)
            if to not in depths or depth < depths[to]:
                depths[to] = depth
                # A redirect's target is no further than the redirect: it goes before those that are.
                (waiting.append if onward is None else waiting.appendleft)(to)
    return depths


def judge_annex(a: PageTruth, b: PageTruth, equal: float) -> Relation:
    """Apply the rules of this module to two different pages whose main texts share *equal* of their words."""
    for page in (a, b):
        if page.status != "content":
            return Relation("unscored", page.status, 0.0)
    is_family = bool(a.family) and a.family == b.family
    kind = a.family.partition(":")[0] if is_family else "unrelated"
    if kind == "product" and a.text != b.text:
        return Relation("unscored", kind, equal)
    if equal >= (CLOSE if is_family else SAME):
        return Relation("duplicate", kind, equal, grade(equal))
    return Relation("unscored" if is_family or equal >= KIN else "different", kind, equal)


def annex_groups(pages: Mapping[str, PageTruth], shares: Shares) -> Iterator[Group]:
    """Yield the families of at least two content pages, sorted by name."""
    families: dict[str, list[str]] = {}
    for key, page in pages.items():
        if page.family and page.status == "content":
            families.setdefault(page.family, []).append(key)
    for name, urls in sorted(families.items()):
        if len(urls) > 1:
            relations = {
                judge_annex(pages[a], pages[b], shares.between(a, b)).expected
                for a, b in combinations(urls, 2)
            }
            expected = relations.pop() if len(relations) == 1 else "unscored"
            yield clique(name.partition(":")[0], expected, urls, shares)


def annex_items() -> dict[str, dict[str, Any]]:
    """Return the cards by name, with what those that were written a second time have in common with the first."""
    cards = load_cards()
    return {
        card.name: {"title": card.title, "price": card.price}
        | (
            {"repeats": card.repeats, "equal": round(equal_share(card.body, cards[card.repeats].body), 4)}
            if card.repeats
            else {}
        )
        for card in cards.values()
    }
