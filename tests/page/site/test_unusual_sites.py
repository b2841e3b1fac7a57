"""Unusual sites: learning takes bounded memory and time."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from benchmarks.lib.kinds import kind_named, make_site
from scrapy_simhash import Config, Fingerprint, NearDuplicateDetector
from scrapy_simhash.judge.rule import Near, SimilarityRule
from scrapy_simhash.page.fingerprint import DOUBTFUL, PART, UNKNOWN, WHOLE, UniqueText
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store import Claim, Posting
from scrapy_simhash.store.candidates import MAX_COMPARED, MAX_NEARBY
from scrapy_simhash.store.sqlite import SqliteStore

#: Bytes: 64 KiB of text blocks and a header.
MAX_PROFILE = 64 * 1024 + 17
SYLLABLES = ("ba", "dor", "el", "fin", "gu", "hal", "ki", "lo", "mar", "nes", "pu", "ri", "sta", "tem", "vo")
SHARED = " ".join(
    f"<p>All prices of the {a} and the {b} are in euros and contain the {c} tax, unless the {d} tells you of it.</p>"
    for a, b, c, d in [random.Random(n).choices(SYLLABLES, k=4) for n in range(8)]
)


def words(draw: random.Random, number: int) -> str:
    return " ".join("".join(draw.choices(SYLLABLES, k=3)) for _ in range(number))


def html(title: str, text: str) -> str:
    return f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{text}</main></body></html>"


def profile_of(detector: NearDuplicateDetector, url: str) -> SiteProfile:
    assert detector.sites is not None
    return detector.sites.of(url)


class Work(SqliteStore):
    """A store that counts the candidates of each page."""

    most_found = 0

    def look(self, posting: Posting) -> Claim:
        _, counts = self._indexes[posting.scope].nearest([posting.fingerprint.value], 1)
        self.most_found = max(self.most_found, counts[0])
        return super().look(posting)

    def claim(self, posting: Posting) -> Claim:
        self.look(posting)
        return super().claim(posting)


class Site:
    """Checks pages of one host with one detector, and counts the cost."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store = Work()
        self.detector = NearDuplicateDetector(store=self.store)
        self.statuses: Counter[str] = Counter()
        self.kinds: Counter[int] = Counter()
        self.most_compared = self._compared = 0
        compare_all = SimilarityRule.compare_all

        def counted(
            rule: SimilarityRule, one: Fingerprint, others: Sequence[bytes], is_generic: bool
        ) -> list[Near]:
            self._compared = len(others)
            return compare_all(rule, one, others, is_generic)

        monkeypatch.setattr(SimilarityRule, "compare_all", counted)

    def crawl(self, pages: int, page_of: Callable[[random.Random, int], str]) -> None:
        draw = random.Random(1)
        for number in range(pages):
            url = f"https://site.example/{number}"
            reading = self.detector.read(page_of(draw, number), url)
            assert reading.fingerprint is not None
            self.kinds[UniqueText.from_bytes(reading.fingerprint.own).kind] += 1
            self._compared = 0
            self.statuses[self.detector.conclude(reading, url).status.value] += 1
            self.most_compared = max(self.most_compared, self._compared)

    @property
    def profile(self) -> SiteProfile:
        return profile_of(self.detector, "https://site.example/")


SIZES = [300, pytest.param(10_000, marks=pytest.mark.slow("it reads 10,000 pages"))]


@pytest.mark.parametrize("pages", SIZES)
@pytest.mark.parametrize("own_words", [3, 40])
def test_similar_pages_with_different_titles_are_new_and_take_bounded_time(
    own_words: int, pages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(monkeypatch)
    site.crawl(
        pages,
        lambda draw, number: html(
            words(draw, 3),
            f"{SHARED}<p>In the end the {words(draw, own_words)} is of all that there is.</p>",
        ),
    )
    assert site.statuses == {"new": pages}
    # Six title keys make a site known. Two of them may share a bit, so a few more pages are doubtful.
    assert 6 <= site.kinds[UNKNOWN] <= 8
    assert site.kinds[WHOLE] == 0
    assert site.kinds[DOUBTFUL] < pages / 10
    assert site.kinds[PART] == pages - site.kinds[UNKNOWN] - site.kinds[DOUBTFUL]
    assert site.most_compared <= MAX_COMPARED
    # Candidates by the shared text, and some by chance.
    assert site.store.most_found <= 1.1 * MAX_NEARBY
    assert len(site.profile.to_bytes()) <= MAX_PROFILE


@pytest.mark.parametrize(
    "title", ["All our prices", ""], ids=["one title key on all pages", "no title key on any page"]
)
def test_a_site_with_one_title_key_is_compared_by_its_whole_text(
    title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def page(draw: random.Random, number: int) -> str:
        # Each page is visited twice, with a few changed words.
        draw = random.Random(number // 2)
        text = f"<p>{words(draw, 40)} the of and a.</p><p>{words(draw, 40)} in to is it.</p>"
        return (html(title, text) if title else f"<main>{text}</main>").replace("in to", f"in {number} to")

    site = Site(monkeypatch)
    site.crawl(200, page)
    assert site.statuses == {"new": 100, "near_duplicate": 100}
    assert site.kinds == {UNKNOWN: 200}
    assert (site.profile.title_keys, site.profile.is_known, site.profile.known()) == (1, False, [])


@pytest.mark.parametrize(
    ("scope", "stolen"),
    [
        pytest.param("crawl", None, id="all sentences on each page"),
        # If only one page of the hostile site has a sentence of a page, it may count as a copy of that page.
        pytest.param("host", 12, id="twelve sentences on each page, scope host"),
    ],
)
def test_a_hostile_site_does_not_change_the_verdicts_of_other_sites(scope: str, stolen: int | None) -> None:
    """A hostile site copies the sentences of another site while the other site is crawled."""
    board = make_site(kind_named("exercises"), 1, 1).originals()
    lines = [line for page in board for line in re.findall(r"<p>[^<]{40,}</p>", page.html)]
    config = Config(scope=scope)
    attacked, alone = NearDuplicateDetector(config), NearDuplicateDetector(config)
    draw = random.Random(5)
    for number, page in enumerate(board):
        for copy in range(5):
            text = "".join(draw.sample(lines, stolen) if stolen else lines)
            attacked.check(html(words(draw, 3), text), f"https://hostile.example/{number}/{copy}")
        found, expected = (said_of(detector, page.html, page.url) for detector in (attacked, alone))
        assert found == expected
    hostile = profile_of(attacked, "https://hostile.example/")
    profile, undisturbed = (profile_of(detector, board[0].url) for detector in (attacked, alone))
    assert profile.to_bytes() == undisturbed.to_bytes()
    # The profile of the hostile site has sentences of single pages of the other site.
    assert len(hostile.known()) > len(profile.known()) > 0


def said_of(detector: NearDuplicateDetector, page: str, url: str) -> tuple[object, ...]:
    """Return a verdict without cluster and near miss, which depend on other hosts."""
    verdict = detector.check(page, url)
    own = verdict.fingerprint and verdict.fingerprint.own
    return replace(verdict, cluster=None, near_miss=None), verdict.fingerprint, own
