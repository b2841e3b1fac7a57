"""Sites unlike those that learning was made for: what happens is stated, and costs bounded memory and time."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from scrapy_simhash import NearDuplicateDetector
from scrapy_simhash.page.fingerprint import OwnPart
from scrapy_simhash.site import SiteProfile, profiles
from scrapy_simhash.store.sqlite import SqliteStore

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


def own_of(detector: NearDuplicateDetector, page: str, url: str) -> OwnPart:
    fingerprint = detector.read(page, url).fingerprint
    assert fingerprint is not None
    return OwnPart.from_bytes(fingerprint.own)


@pytest.mark.parametrize("is_kept", [False, True], ids=["memory", "file"])
def test_twenty_thousand_hosts_of_a_page_each_keep_no_more_than_a_thousand_profiles(
    is_kept: bool, tmp_path: Path
) -> None:
    store = SqliteStore(tmp_path / "pages.sqlite") if is_kept else None
    detector = NearDuplicateDetector(store=store)
    assert detector.sites is not None
    reading = detector.read(html("Nurse in Kiel", SHARED), "https://0.example/")
    assert reading.fingerprint is not None
    sites = detector.sites
    for number in range(20_000):
        url = f"https://{number}.example/"
        # All that a page costs here but its claim, of which other tests tell.
        sites.of(url)
        sites.learn(url, reading.pieces, reading.fingerprint.sketch)
        if number % 500 == 499:
            sites.keep()
        assert len(sites._profiles) <= profiles.MOST_HOSTS
        assert len(sites._changed) <= 500
    assert sites.of("https://19999.example/").pages == 1
    assert sites.of("https://0.example/").pages == (1 if is_kept else 0)
    # A profile takes as much as it has learned: 2 KiB for the first pieces.
    assert sum(len(profile.to_bytes()) for profile in sites._profiles.values()) < 2048 * profiles.MOST_HOSTS
    if store is not None:
        store.close()


def test_a_hostile_site_does_not_get_the_pages_of_another_one_unlearned() -> None:
    """It repeats the sentences of that site on a hundred pages of its own."""
    detector, alone = NearDuplicateDetector(), NearDuplicateDetector()
    draw = random.Random(5)
    victim = [
        html(words(draw, 3), f"<p>{words(draw, 80)} the and of.</p><p>{words(draw, 80)} to a in.</p>")
        for _ in range(20)
    ]
    stolen = "".join(page.partition("</h1>")[2].partition("</main>")[0] for page in victim)
    for number in range(100):
        page = html(words(draw, 3), stolen)
        detector.check(page, f"https://hostile.example/{number}")
    for number, page in enumerate(victim):
        url = f"https://victim.example/{number}"
        assert own_of(detector, page, url) == own_of(alone, page, url)
        assert detector.check(page, url).status is alone.check(page, url).status
    assert profile_of(detector, "https://victim.example/").known() == []
