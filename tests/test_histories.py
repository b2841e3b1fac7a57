"""Whole histories of crawls: what no kill, no outage and no way back to an old text may do to an item."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Request, signals
from scrapy.http import HtmlResponse

from scrapy_simhash import SimhashDownloaderMiddleware, SimhashSpiderMiddleware, StoreUnavailable
from tests.crawl.site import article
from tests.stand_in import stand_in


def short(text: str) -> str:
    return f"<title>The shop</title><main><p>{text}</p></main>"


#: Two long texts, one with a word more than another, and two that are too short for a fingerprint.
TEXTS = {
    "A": article(0),
    "A and a word": article(0).replace("</p>", " Late.</p>", 1),
    "B": article(1),
    "sold": short("Sold out since Monday."),
    "soon": short("Back in the shop soon."),
}
SHORT = ("sold", "soon")


class Visit(NamedTuple):
    """A page with one of the texts; *is_away* says that the store does not answer meanwhile."""

    page: str
    text: str
    is_away: bool = False


class Run(NamedTuple):
    """One crawl of a history."""

    visits: list[Visit]
    is_killed: bool


@dataclass
class Past:
    """The texts that a page had, as far as the store heard of them."""

    texts: list[str] = field(default_factory=list)
    is_safe: bool = False
    """Whether the latest was handed on, since the page has it, in a run that ended in order."""
    is_on_its_way: bool = False
    """Whether it was handed on in the present run."""


def fail(*_: object) -> None:
    raise StoreUnavailable("not now")


def crawl(folder: Path, run: Run, pasts: dict[str, Past]) -> None:
    """Crawl with the store in *folder*, and hold every item that is dropped or kept against the past of its page."""
    crawler = stand_in(dir=str(folder), revisit_action="drop_items")
    judge = SimhashDownloaderMiddleware.from_crawler(crawler)
    crawler.signals.send_catch_log(signals.engine_started)
    actor = SimhashSpiderMiddleware.from_crawler(crawler)
    for page, text, is_away in run.visits:
        url = f"https://example.com/{page}"
        response = HtmlResponse(url, body=TEXTS[text].encode(), encoding="utf-8", request=Request(url))
        assert response.request is not None
        with pytest.MonkeyPatch.context() as patch:
            if is_away:
                patch.setattr(judge.detector.store, "claim", fail)
            judge.process_response(response.request, response)
        is_kept = actor.get_processed_item({"text": text}, response) is not None
        if is_away:
            assert is_kept, "nobody knows"
            continue
        past = pasts.setdefault(page, Past())
        if past.texts[-1:] != [text]:
            past.is_safe = past.is_on_its_way = False
        if not is_kept:
            assert past.is_safe, f"{page} had {text} after {past.texts}, and its item was dropped"
        elif text not in SHORT:  # the first that said it is skipped, and its items are kept
            assert not past.is_safe, f"{page} had {text} after {past.texts}, and its item came twice"
        past.is_on_its_way = not past.is_safe
        past.texts.append(text)
    store = judge.detector.store
    if run.is_killed:
        shutil.copytree(folder, killed := folder.with_name("killed"))
    store.close()
    if run.is_killed:
        shutil.rmtree(folder)
        killed.rename(folder)
    for past in pasts.values():
        past.is_safe = past.is_safe or (past.is_on_its_way and not run.is_killed)
        past.is_on_its_way = False


VISITS = st.builds(
    Visit, st.sampled_from("pq"), st.sampled_from(sorted(TEXTS)), st.sampled_from([False] * 5 + [True])
)
HISTORIES = st.lists(st.builds(Run, st.lists(VISITS, max_size=4), st.booleans()), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(HISTORIES)
def test_no_item_is_dropped_of_a_text_that_was_not_safe_since_the_page_had_it(history: list[Run]) -> None:
    pasts: dict[str, Past] = {}
    with TemporaryDirectory() as folder:
        for run in history:
            crawl(Path(folder, "seen"), run, pasts)
