"""Random histories of crawls: no rule, kill, outage or return to an old text may lose an item.

The promise: the output of a page is delivered at every visit, with two exceptions. A rule of the settings
drops it as a copy; or the page is unchanged and an earlier run that ended in order has delivered this text.
"""

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response

from scrapy_simhash import (
    NearDuplicate,
    SimhashDownloaderMiddleware,
    SimhashPolicy,
    SimhashSpiderMiddleware,
    StoreUnavailable,
)
from scrapy_simhash.judge.policy import Judged
from scrapy_simhash.store import Claim, Header, Posting
from scrapy_simhash.store.sqlite import SqliteStore
from tests.crawls.site import article
from tests.examples import examples
from tests.stand_in import acting, in_loop, left_of, stand_in
from tests.store.remote import RemoteStore


def short(text: str) -> str:
    return f"<title>The shop</title><main><p>{text}</p></main>"


#: Two long texts, a variant of one with an extra word, and two texts too short for a fingerprint.
TEXTS = {
    "A": article(0),
    "A and a word": article(0).replace("</p>", " Late.</p>", 1),
    "B": article(1),
    "sold": short("Sold out since Monday."),
    "soon": short("Back in the shop soon."),
}
SHORT = ("sold", "soon")


PAGES = "pqrs"
WORDS = ("mark", "drop_items", "drop_links", "drop_items,drop_links", "drop_page")
OWN, OWN_WORDS = f"{__name__}.ByPage", {"p": "drop_page", "q": "mark", "r": "drop_items"}


class ByPage(SimhashPolicy):
    """A custom policy with a different action for each page."""

    def copy_action(self, page: Judged) -> str:
        return OWN_WORDS.get(page.url[-1], "mark")


class Visit(NamedTuple):
    """A visit of a page with one of the texts."""

    page: str
    text: str
    is_away: bool = False
    """Whether the store fails."""
    fails: bool = False
    """Whether the callback fails, if there is one."""
    depth: int = 2
    action: str | None = None
    """The action in the meta of the request; None for the action of the settings."""
    revisit_action: str | None = None


class Run(NamedTuple):
    """One crawl of a history."""

    visits: list[Visit]
    is_killed: bool


class Rules(NamedTuple):
    """The settings of a history."""

    action: str = "mark"
    exact_action: str | None = None
    revisit_action: str = "drop_items"
    denied: str = ""
    """Pages of SIMHASH_KEEP_URLS."""
    has_policy: bool = False
    """Whether `ByPage` is the policy."""

    @property
    def settings(self) -> dict[str, Any]:
        named = self._asdict()
        del named["denied"], named["has_policy"]
        if self.has_policy:
            named["policy"] = OWN
        return {**named, "keep_urls": [f"/{page}$" for page in self.denied]}


@dataclass
class Past:
    """The history of a page, as the store records it."""

    texts: list[str] = field(default_factory=list)
    is_safe: bool = False
    """Whether the current text was delivered in an earlier run."""
    is_on_its_way: bool = False
    """Whether it was delivered in this run."""
    is_known_safe: bool = False
    """Whether the store must know the delivery."""
    rank: tuple[int, int] | None = None
    """The latest cluster and the rank in it."""


def parts(words: str) -> set[str]:
    """Return the parts that an action drops."""
    return {
        "mark": set[str](),
        "drop_items": {"item"},
        "drop_links": {"link"},
        "drop_items,drop_links": {"item", "link"},
        "drop_page": {"item", "link"},
    }[words]


def lost_as_copy(rules: Rules, visit: Visit, meta: dict[str, Any]) -> set[str]:
    """Return the documented drops for a near-duplicate."""
    result = meta["simhash_result"]
    if result["duplicate_of"] is None:
        return set()
    words = rules.exact_action if rules.exact_action and result["exact"] else rules.action
    if rules.has_policy:
        words = OWN_WORDS.get(visit.page, "mark")
    gone = parts(visit.action or words)
    if not visit.action and visit.page in rules.denied:
        return set()
    return gone if visit.action else less_of_a_start_page(gone, visit)


def lost_as_unchanged(rules: Rules, visit: Visit) -> set[str]:
    """Return the documented drops for an unchanged page."""
    gone = parts(visit.revisit_action or rules.revisit_action)
    if visit.revisit_action:
        return gone
    if visit.page in rules.denied:
        return set()
    return less_of_a_start_page(gone, visit)


def less_of_a_start_page(gone: set[str], visit: Visit) -> set[str]:
    return gone if visit.depth else gone - {"link"}


def fail(*_: object) -> None:
    raise StoreUnavailable("not now")


def lost(actor: SimhashSpiderMiddleware, response: Response) -> set[str]:
    """Return the documented drops for a page whose text another page has delivered."""
    actor._deliveries.waits = lambda result: False  # type: ignore[method-assign, assignment]
    try:
        actor.process_spider_input(response)
    except NearDuplicate:
        return {"item", "link"}
    item, link = (left_of(actor, one, response) for one in ({"a": 1}, Request("https://example.com/")))
    return {name for name, part in (("item", item), ("link", link)) if part is None}


def begun(crawler: Crawler, number: int) -> SimhashDownloaderMiddleware:
    """Return the downloader middleware of run *number*; runs are an hour apart."""
    judge = SimhashDownloaderMiddleware.from_crawler(crawler)
    judge._session._began = began = 3600 * number
    judge.detector._clock = lambda: began + 1.0
    return judge


def deliver(judge: SimhashDownloaderMiddleware, request: Request) -> None:
    """Record that the items of a page were delivered."""
    page_hash = request.meta["simhash_result"].verdict.page_hash
    judge.detector.deliver(judge._key_of(request), page_hash)


def crawl(folder: Path, number: int, run: Run, rules: Rules, pasts: dict[str, Past]) -> None:
    """Crawl with the store in *folder*, and check the dropped parts against the history of each page."""
    crawler = stand_in(store=str(folder), **rules.settings)
    judge = begun(crawler, number)
    crawler.signals.send_catch_log(signals.engine_started)
    actor = acting(crawler)
    for visit in run.visits:
        url = f"https://example.com/{visit.page}"
        wishes = {"action": visit.action, "revisit_action": visit.revisit_action}
        request = Request(url, meta={"depth": visit.depth, "simhash": wishes})
        html = TEXTS[visit.text]
        response = HtmlResponse(url, body=html.encode(), encoding="utf-8", request=request)
        with pytest.MonkeyPatch.context() as patch:
            if visit.is_away:
                patch.setattr(judge.detector.store, "claim", fail)
            judge.process_response(request, response)
        gone = lost(actor, response)
        if visit.is_away:
            assert not gone, "the page was not compared"
            continue
        hold(pasts.setdefault(visit.page, Past()), gone, rules, visit, request.meta)
        if "item" not in gone and not visit.fails:
            deliver(judge, request)
    if run.is_killed:
        shutil.copytree(folder, killed := folder.with_name("killed"))
    judge.detector.flush()
    judge.detector.store.close()
    if run.is_killed:
        shutil.rmtree(folder)
        killed.rename(folder)
    for past in pasts.values():
        past.is_safe = past.is_safe or past.is_on_its_way
        past.is_known_safe = past.is_known_safe or (past.is_on_its_way and not run.is_killed)
        past.is_on_its_way = False


def hold(past: Past, gone: set[str], rules: Rules, visit: Visit, meta: dict[str, Any]) -> None:
    """Check the dropped parts *gone* of a page against its history, and record the visit."""
    tale = f"{visit.page} has {visit.text} after {past.texts}"
    if past.texts[-1:] != [visit.text]:
        past.is_safe = past.is_known_safe = past.is_on_its_way = False
    past.texts.append(visit.text)
    result = meta["simhash_result"]
    is_done = result["reason"] == "unchanged" and result["delivered"]
    assert past.is_safe or not is_done, f"{tale}: counts as delivered"
    if visit.text not in SHORT:  # the first page with a short text is skipped, and its items are kept
        assert is_done or not past.is_known_safe or past.is_on_its_way, f"{tale}: does not count as delivered"
    expected = lost_as_copy(rules, visit, meta) | (lost_as_unchanged(rules, visit) if is_done else set())
    assert gone == expected, tale
    past.is_on_its_way = past.is_on_its_way or ("item" not in gone and not visit.fails)
    if result["rank"] is not None:
        cluster, rank = result["cluster"], result["rank"]
        if past.rank is not None and past.rank[0] == cluster:
            assert past.rank[1] == rank, f"{tale}: the rank has changed"
        assert rank or result["duplicate_of"] is None
        past.rank = cluster, rank
    elif visit.text in SHORT:
        # Skipped as the first page with the text: the page has left its cluster.
        past.rank = None


VISITS = st.builds(
    Visit,
    st.sampled_from(PAGES),
    st.sampled_from(sorted(TEXTS)),
    is_away=st.sampled_from([False] * 7 + [True]),
    fails=st.sampled_from([False] * 5 + [True]),
    depth=st.sampled_from([0, 1, 2, 2]),
    action=st.sampled_from([None, None, None, *WORDS]),
    revisit_action=st.sampled_from([None, None, None, *WORDS]),
)
HISTORIES = st.lists(st.builds(Run, st.lists(VISITS, max_size=6), st.booleans()), min_size=1, max_size=5)
RULES = st.builds(
    Rules,
    action=st.sampled_from(WORDS),
    exact_action=st.sampled_from([None, None, *WORDS]),
    revisit_action=st.sampled_from(WORDS),
    denied=st.sampled_from(["", "", "q"]),
    has_policy=st.booleans(),
)


@settings(max_examples=examples(120), deadline=None)
@given(HISTORIES, RULES)
def test_output_is_dropped_only_by_a_rule_or_if_its_text_is_delivered(
    history: list[Run], rules: Rules
) -> None:
    pasts: dict[str, Past] = {}
    with TemporaryDirectory() as folder:
        for number, run in enumerate(history):
            in_loop(partial(crawl, Path(folder, "seen"), number, run, rules, pasts))


class Elsewhere(RemoteStore):
    """A store in a file with random delays before and after each operation."""

    def __init__(self, store: SqliteStore, seed: int) -> None:
        super().__init__(store.header)
        self.store = store
        self._random = Random(seed)

    @classmethod
    def from_crawler(cls, crawler: Crawler, header: Header) -> "Elsewhere":
        return cls(SqliteStore(crawler.settings["SEEN"], header), crawler.settings.getint("SEED"))

    async def claim(self, posting: Posting) -> Claim:
        await self._dawdle()
        claim = self.store.claim(posting)
        await self._dawdle()
        return claim

    async def deliver(self, pages: Mapping[bytes, int | None]) -> None:
        await self._dawdle()
        self.store.deliver(pages)
        await self._dawdle()

    async def _dawdle(self) -> None:
        for _ in range(self._random.randrange(6)):
            await asyncio.sleep(0)


async def crawl_at_once(
    path: Path, number: int, run: Run, rules: Rules, seed: int, safe: set[tuple[str, str]]
) -> None:
    """Crawl with the store at *path*, all pages at once; *safe* has the delivered texts of each page."""
    crawler = stand_in(**rules.settings, store=f"{__name__}.Elsewhere")
    crawler.settings.set("SEEN", str(path))
    crawler.settings.set("SEED", seed + number)
    judge = begun(crawler, number)
    actor = acting(crawler)
    delivered: set[tuple[str, str]] = set()

    async def visited(visit: Visit) -> None:
        wishes = {"action": visit.action, "revisit_action": visit.revisit_action}
        request = Request(f"https://example.com/{visit.page}", meta={"depth": visit.depth, "simhash": wishes})
        html = TEXTS[visit.text]
        response = HtmlResponse(request.url, body=html.encode(), encoding="utf-8", request=request)
        await cast("Any", judge.process_response(request, response))
        result = request.meta["simhash_result"]
        is_done = result["reason"] == "unchanged" and result["delivered"]
        assert not is_done or (visit.page, visit.text) in safe
        expected = lost_as_copy(rules, visit, request.meta)
        gone = lost(actor, response)
        assert gone == expected | (lost_as_unchanged(rules, visit) if is_done else set())
        if "item" in gone:
            return
        if not visit.fails:
            deliver(judge, request)
            delivered.add((visit.page, visit.text))

    await asyncio.gather(*map(visited, run.visits))
    store = cast("Elsewhere", judge.detector.store).store
    safe |= delivered
    if run.is_killed:
        store._release()
        return
    await judge.detector.flush_async()
    store.close()


#: Few pages with few texts, so that visits of the same page overlap.
MEETINGS = st.lists(
    st.builds(
        Run,
        st.lists(
            st.builds(
                Visit,
                st.sampled_from("pqs"),
                st.sampled_from(["A", "A and a word"]),
                is_away=st.just(False),
                fails=st.sampled_from([False] * 5 + [True]),
                depth=st.just(2),
                action=st.sampled_from([None, "mark", "drop_items"]),
                revisit_action=st.none(),
            ),
            min_size=2,
            max_size=6,
        ),
        st.sampled_from([False, False, False, True]),
    ),
    min_size=2,
    max_size=4,
)


@settings(max_examples=examples(100), deadline=None)
@given(HISTORIES | MEETINGS, RULES, st.integers(0, 2**32))
def test_no_text_counts_as_delivered_before_its_item_is_scraped_in_any_order_of_replies(
    history: list[Run], rules: Rules, seed: int
) -> None:
    safe: set[tuple[str, str]] = set()
    with TemporaryDirectory() as folder:
        for number, run in enumerate(history):
            asyncio.run(crawl_at_once(Path(folder, "seen.sqlite"), number, run, rules, seed, safe))
