"""A crawl stores what it has learned about sites while it runs."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from benchmarks.lib.kinds import kind_named, make_site
from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.detector import header_for
from scrapy_simhash.notes import SITE
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store.sqlite import SqliteStore


def test_the_data_of_all_but_the_last_500_pages_is_stored(tmp_path: Path) -> None:
    path, pages = tmp_path / "pages.sqlite", make_site(kind_named("exercises"), 1, 1).originals()
    with closing(NearDuplicateDetector(store=SqliteStore(path, header_for(Config())))) as detector:
        for number in range(600):
            detector.check(pages[number % len(pages)].html, f"https://jobs.example/{number}")
        with closing(SqliteStore(path, read_only=True)) as reader:
            _, data = reader.note(SITE, "jobs.example")
    assert data is not None
    profile = SiteProfile.from_bytes(data)
    assert profile.is_known
    assert 100 <= profile.pages <= 600
