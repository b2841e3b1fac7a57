"""export, import and merge carry what was learned about sites, and join it with what a store knows."""

from __future__ import annotations

import json
from argparse import Namespace
from asyncio import new_event_loop
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.cli.places import place_of
from scrapy_simhash.cli.postings import Site, parsed_site, site_line
from scrapy_simhash.cli.stores import blocking, change_kept
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store import KeepsSites
from scrapy_simhash.store.redis import RedisStore
from scrapy_simhash.store.sqlite import SqliteStore
from tests.cli.conftest import Cli, Places
from tests.cli.test_moving import POSTINGS, RULE
from tests.store.redis.stores import admin
from tests.store.server import RedisServer


def profile(*subjects: int, piece: int = 5, pages: int = 10, is_pinned: bool = False) -> SiteProfile:
    """Return a profile of pages of these *subjects*, all of which have a piece of text."""
    bits = sum(1 << subject for subject in subjects)
    made = SiteProfile.of_pieces(bits, [(piece, bits)])
    made.pages, made.since, made.is_pinned = pages, 1_790_000_000, is_pinned
    return made


def store_of(path: Path, **profiles: SiteProfile) -> str:
    """Return the path of a store with pages, and profiles of hosts."""
    with closing(SqliteStore(path, RULE)) as store:
        for posting in POSTINGS:
            store.claim(posting)
        store.keep_sites([(f"{name}.example", one.to_bytes()) for name, one in profiles.items()])
    return str(path)


def learned(place: str) -> dict[str, tuple[int, int, list[tuple[int, int]], bool]]:
    """Return pages, subjects, pieces, and whether it is pinned, of each host that the store at *place* knows."""
    with place_of(place, Namespace(project=None, prefix=None)).reading() as store:
        assert isinstance(store, KeepsSites)
        found = {host: SiteProfile.from_bytes(data) for host, data in store.sites()}
    return {
        host: (one.pages, one.subject_bits, sorted(one.pieces()), one.is_pinned)
        for host, one in found.items()
    }


@pytest.mark.parametrize("through_export", [True, False])
def test_profiles_are_carried_over_and_joined(
    through_export: bool, places: Places, tmp_path: Path, cli: Cli
) -> None:
    monday = store_of(tmp_path / "monday.sqlite", jobs=profile(1, 2), news=profile(7, piece=9))
    tuesday = store_of(
        tmp_path / "tuesday.sqlite", jobs=profile(2, 3, pages=4), flats=profile(8, is_pinned=True)
    )
    both = places.new()
    sources = [monday, tuesday]
    if through_export:
        sources = [f"{source}.jsonl" for source in sources]
        for store, file in zip([monday, tuesday], sources, strict=True):
            cli("export", store, "--output", file)
        for file in sources:
            facts = cli.json("import", both, "--input", file)
    else:
        facts = cli.json("merge", both, *sources)
    assert facts["profiles"] == (2 if through_export else 4)
    expected = {
        "flats.example": (10, 1 << 8, [(5, 1 << 8)], True),
        "jobs.example": (14, 0b1110, [(5, 0b1110)], False),
        "news.example": (10, 1 << 7, [(9, 1 << 7)], False),
    }
    assert learned(both) == expected
    cli.json("merge", both, *sources)
    assert learned(both) == expected, "the same again adds nothing"


def test_a_pinned_profile_stays_as_it_is(places: Places, tmp_path: Path, cli: Cli) -> None:
    both = places.new()
    cli.json("merge", both, store_of(tmp_path / "pinned.sqlite", jobs=profile(1, is_pinned=True)))
    cli.json("merge", both, store_of(tmp_path / "other.sqlite", jobs=profile(2, 3)))
    assert learned(both) == {"jobs.example": (10, 0b10, [(5, 0b10)], True)}


def test_a_pinned_profile_takes_the_place_of_what_was_learned() -> None:
    data = Site("jobs.example", profile(1, is_pinned=True)).joined(profile(2, 3).to_bytes())
    assert data is not None
    assert data == profile(1, is_pinned=True).to_bytes()


def test_a_damaged_profile_is_left_out_or_replaced(tmp_path: Path, cli: Cli) -> None:
    damaged, sound = tmp_path / "damaged.sqlite", store_of(tmp_path / "sound.sqlite", jobs=profile(1))
    with closing(SqliteStore(damaged, RULE)) as store:
        store.keep_sites([("jobs.example", b"?")])
    cli("export", str(damaged), "--output", str(tmp_path / "out.jsonl"))
    assert len((tmp_path / "out.jsonl").read_text("ascii").splitlines()) == 1
    cli.json("merge", str(damaged), sound)
    assert learned(str(damaged)) == learned(sound)


def test_what_another_crawler_learns_meanwhile_is_not_lost(redis: RedisServer) -> None:
    loop, prefix = new_event_loop(), "learn-meanwhile"
    store = blocking(RedisStore(redis.url, prefix, RULE), loop)
    assert isinstance(store, KeepsSites)
    store.keep_sites([("jobs.example", profile(2).to_bytes())])
    seen: list[bytes | None] = []

    def join(kept: bytes | None) -> bytes | None:
        if not seen:
            # Another one writes between the reading and the writing of this one: its version and its profile.
            admin(redis.url).hset(f"{prefix}:sites", "jobs.example", b"-faster-" + profile(2, 3).to_bytes())
        seen.append(kept)
        return Site("jobs.example", profile(1)).joined(kept)

    change_kept(store, "jobs.example", join)
    assert seen == [profile(2).to_bytes(), profile(2, 3).to_bytes()]
    data = store.load_site("jobs.example")
    assert data is not None
    assert SiteProfile.from_bytes(data).subject_bits == 0b1110
    store.close()
    loop.close()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"site": 5}, "has a wrong value in 'site': it is not a string"),
        ({"subjects": "x"}, 'has a wrong profile: "subjects" must be 16 hexadecimal digits'),
        ({"pieces": []}, 'has a wrong profile: "pieces" must be an object'),
        ({"pages": -1}, 'has a wrong profile: "pages" must be a whole number'),
        ({"since": "late"}, 'has a wrong profile: "since"'),
    ],
)
def test_a_wrong_line_is_told(change: dict[str, Any], problem: str) -> None:
    line = json.loads(site_line(Site("jobs.example", profile(1))))
    with pytest.raises(ValueError, match=problem):
        parsed_site({**line, **change})
