"""A profile that one crawl has learned is imported before the first crawl of another store, and pinned there."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.lib.shared_text import PLANS, make_site
from scrapy_simhash import PageFingerprinter, names
from scrapy_simhash.notes import SITE
from scrapy_simhash.page.fingerprint import is_part
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store.sqlite import SqliteStore
from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl, scrapy
from tests.crawls.site import serve

PAGES = 40
BOARD = make_site(PLANS[5], 0).pages[:PAGES]
HOST = "127.0.0.1"
SETTINGS = """
ADDONS = {"scrapy_simhash.Addon": 500}
SPIDER_MODULES = ["tests.crawls.spiders"]
SIMHASH_STORE = %r
"""


class Told(NamedTuple):
    learning: Crawl
    pinned: Crawl
    unpinned: Crawl
    profiles: list[bytes]
    """After the first crawl, and of the other store: after the import, the pinned crawl, the one without a pin."""


def profile_in(folder: Path) -> bytes:
    with closing(SqliteStore(folder / "visitor.sqlite", read_only=True)) as store:
        _, data = store.note(SITE, HOST)
    assert data is not None
    return data


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    first, project = tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("project")
    second = project / "simhash"
    (project / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    (project / "settings.py").write_text(SETTINGS % str(second))
    file = str(project / "profile.json")

    def command(*arguments: str) -> None:
        done = scrapy("simhash", *arguments, cwd=project)
        assert (done.returncode, done.stderr) == (0, "")

    with serve({f"/{number}": page.html for number, page in enumerate(BOARD)}) as site:
        urls = [site.url(f"/{number}") for number in range(PAGES)]

        def visit(folder: Path) -> tuple[Crawl, bytes]:
            (done,) = crawl(Plan("Visitor", {**IN_ORDER, "SIMHASH_STORE": str(folder)}, {"urls": urls}))
            return done, profile_in(folder)

        learning, learned = visit(first)
        command("export", str(first / "visitor.sqlite"), "--host", HOST, "-o", file)
        command("import", "visitor", file)
        imported = profile_in(second)
        command("learned", "visitor", HOST, "--pin")
        pinned, after_pin = visit(second)
        command("learned", "visitor", HOST, "--unpin")
        unpinned, after_unpin = visit(second)
    return Told(learning, pinned, unpinned, [learned, imported, after_pin, after_unpin])


def test_no_crawl_logs_an_error(told: Told) -> None:
    assert [done.complaints for done in told[:3]] == [[], [], []]


def test_a_profile_is_imported_as_it_was_learned(told: Told) -> None:
    learned, imported, *_ = told.profiles
    assert imported == learned
    assert SiteProfile.from_bytes(learned).pages == PAGES


def test_a_crawl_with_a_pinned_profile_uses_it_from_the_first_page_on(told: Told) -> None:
    profile = SiteProfile.from_bytes(told.profiles[1])
    readings = [PageFingerprinter().read(page.html, site=profile) for page in BOARD]
    parts = sum(reading.fingerprint is not None and is_part(reading.fingerprint.own) for reading in readings)
    assert told.pinned.stats[names.STAT_UNIQUE_TEXT] == parts
    assert told.learning.stats[names.STAT_UNIQUE_TEXT] < parts


def test_a_crawl_does_not_change_a_pinned_profile_and_goes_on_learning_without_the_pin(told: Told) -> None:
    imported, after_pin, after_unpin = map(SiteProfile.from_bytes, told.profiles[1:])
    assert after_pin.is_pinned
    after_pin.is_pinned = False
    assert after_pin.to_bytes() == imported.to_bytes()
    assert (after_unpin.is_pinned, after_unpin.pages) == (False, 2 * PAGES)
