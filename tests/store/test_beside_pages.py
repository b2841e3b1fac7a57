"""Unique texts, and learned data about sites."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from scrapy_simhash.notes import SITE
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store.redis import RedisStore
from scrapy_simhash.store.sqlite import SqliteStore
from tests.store.cases import SECOND_LOOK, header
from tests.store.server import RedisServer

HEADER = header(SECOND_LOOK)
ROOT = Path(__file__).parents[2]


# --- Profiles.


KILLED = """
import asyncio, sys
from benchmarks.lib.kinds import kind_named, make_site
from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.detector import header_for
from scrapy_simhash.store.redis import RedisStore
from scrapy_simhash.store.sqlite import SqliteStore

async def crawl(place):
    header = header_for(Config())
    store = RedisStore(place, "killed", header) if "//" in place else SqliteStore(place, header)
    detector = NearDuplicateDetector(store=store)
    pages = make_site(kind_named("exercises"), 1, 1).originals()
    for number in range(1, 10_000):
        url = f"https://jobs.example/{number}"
        await detector.load_site(url)
        await detector.conclude_async(detector.read(pages[number % len(pages)].html, url), url)
        print(number, flush=True)

asyncio.run(crawl(sys.argv[1]))
"""


def killed(place: str, pages: int = 1_200) -> int:
    """Crawl into the store at *place*, and kill the crawl after *pages*; return the number of claimed pages."""
    command = [sys.executable, "-c", KILLED, place]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="ascii") as process:
        assert process.stdout is not None
        seen = 0
        for line in process.stdout:
            seen = int(line)
            if seen == pages:
                process.kill()
                break
        # Plus the data that was written before the kill.
        return max([seen, *map(int, process.stdout.read().split("\n")[:-1])])


def profile_in_file(path: str) -> bytes | None:
    with closing(SqliteStore(path)) as store:
        return store.note(SITE, "jobs.example")[1]


async def profile_in_redis(url: str) -> bytes | None:
    store = RedisStore(url, "killed", None, read_only=True)
    _, data = await store.note(SITE, "jobs.example")
    await store.close()
    return data


@pytest.mark.parametrize("kind", ["sqlite", "redis"])
def test_a_kill_loses_the_learned_data_of_at_most_500_pages(kind: str, tmp_path: Path) -> None:
    if kind == "sqlite":
        seen = killed(path := str(tmp_path / "pages.sqlite"))
        data = profile_in_file(path)
    else:
        pytest.importorskip("redis")
        with RedisServer(tmp_path, appendfsync="always") as server:
            seen = killed(server.url)
            data = asyncio.run(profile_in_redis(server.url))
    assert data is not None
    profile = SiteProfile.from_bytes(data)
    assert seen - 500 <= profile.pages <= seen + 1
    assert profile.is_known
