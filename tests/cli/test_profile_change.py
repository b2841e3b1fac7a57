"""Profiles that are moved: profile with --export, --import, --pin and --unpin; export, import and merge of stores."""

from __future__ import annotations

import json
from argparse import Namespace
from asyncio import new_event_loop
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.lib.shared_text import PLANS, make_site
from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.cli.places import place_of
from scrapy_simhash.cli.postings import Site, parsed_site, site_line
from scrapy_simhash.cli.profile import MOST_PIECES, MOST_PROFILE_BYTES, PROFILE_KIND, file_lines
from scrapy_simhash.cli.stores import Waited
from scrapy_simhash.detector import header_for
from scrapy_simhash.fingerprinter import SCHEME
from scrapy_simhash.notes import SITE, Note
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store.redis import RedisStore
from scrapy_simhash.store.sqlite import SqliteStore
from tests.cli.conftest import Cli, Places
from tests.cli.test_moving import POSTINGS, RULE, exported
from tests.store.redis.stores import admin
from tests.store.server import RedisServer

BOARD = "jobs.example"


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store that knows a job board, whose profile is not empty."""
    path = tmp_path / "pages.sqlite"
    with closing(SqliteStore(path, header_for(Config()))) as store:
        detector = NearDuplicateDetector(store=store, clock=lambda: 1_790_000_000)
        for number, page in enumerate(make_site(PLANS[0], 0).pages[:20]):
            detector.check(page.html, f"https://{BOARD}/{number}")
        detector.flush()
    return str(path)


@pytest.fixture
def other(tmp_path: Path) -> str:
    """A store that knows no host, made with other settings."""
    path = tmp_path / "other.sqlite"
    SqliteStore(path, header_for(Config(shingle_size=3))).close()
    return str(path)


@pytest.fixture
def file(tmp_path: Path, store: str, cli: Cli) -> Path:
    path = tmp_path / "profile.json"
    assert cli("profile", store, BOARD, "--export", str(path)) == ""
    return path


def profile_in(store: str, host: str = BOARD) -> SiteProfile:
    with closing(SqliteStore(Path(store), read_only=True)) as opened:
        _, data = opened.note(SITE, host)
    assert data is not None
    return SiteProfile.from_bytes(data)


def runs_of(store: str) -> list[str | None]:
    with closing(SqliteStore(Path(store), read_only=True)) as opened:
        return [run.reason for run in opened.runs()]


# --- Export and import.


def test_an_exported_profile_is_the_same_in_another_store(
    store: str, other: str, file: Path, cli: Cli
) -> None:
    said = cli("profile", other, "Jobs.Example", "--import", str(file))
    profile = profile_in(store)
    assert profile_in(other).to_bytes() == profile.to_bytes()
    assert profile.known()
    assert said.startswith(
        f"{BOARD}: 20 pages since 2026-09-21T14:13:20Z, {profile.subjects} subjects, known\n"
    )
    assert runs_of(other) == ["finished", "profile"]


def test_a_profile_can_be_imported_for_another_host(other: str, file: Path, cli: Cli) -> None:
    found = json.loads(cli("profile", other, "new.example", "--import", str(file), "--json"))
    assert (found["host"], found["pages"], found["is_known"]) == ("new.example", 20, True)


def test_an_import_replaces_what_was_known(store: str, file: Path, cli: Cli) -> None:
    facts = {**json.loads(file.read_text()), "pages": 7, "since": None, "pieces": {}}
    file.write_text(json.dumps(facts))
    said = cli("profile", store, BOARD, "--import", str(file))
    assert said.startswith(f"{BOARD}: 7 pages, ")
    assert profile_in(store).pieces() == []


def test_a_file_says_what_it_is_and_holds_no_text(store: str, file: Path) -> None:
    facts = json.loads(file.read_text())
    assert [*facts] == ["kind", "version", "scheme", "host", "pages", "since", "subjects", "pieces"]
    assert (facts["kind"], facts["version"], facts["scheme"], facts["host"]) == (
        PROFILE_KIND,
        1,
        SCHEME,
        BOARD,
    )
    assert (facts["pages"], facts["since"]) == (20, "2026-09-21T14:13:20Z")
    assert facts["pieces"] == {f"{key:016x}": f"{bits:016x}" for key, bits in profile_in(store).pieces()}


def test_the_largest_profile_fits_into_a_file() -> None:
    profile = SiteProfile()
    for number in range(600):
        keys = [(number * 50 + place) * 0x9E3779B97F4A7C15 % 2**64 for place in range(50)]
        profile.learn(
            b"".join(key.to_bytes(8, "little") for key in keys), bytes(126) + number.to_bytes(2, "big")
        )
    assert MOST_PIECES - 100 < len(profile.pieces()) <= MOST_PIECES
    assert sum(map(len, file_lines("h" * 253, profile, SCHEME))) < MOST_PROFILE_BYTES / 4


GOOD: Mapping[str, Any] = {
    "kind": PROFILE_KIND,
    "version": 1,
    "scheme": SCHEME,
    "host": BOARD,
    "pages": 1,
    "since": None,
    "subjects": "000000000000000f",
    "pieces": {"00000000000000aa": "0000000000000003"},
}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "is no profile: it is not JSON"),
        ("[" * 100_000, "is no profile: it is not JSON"),
        ("\xff", "is no profile: it is not JSON"),
        ("[]", 'is no profile: it has no "kind": "scrapy-simhash site profile"'),
        ({"kind": "page"}, 'is no profile: it has no "kind": "scrapy-simhash site profile"'),
        (" " * (MOST_PROFILE_BYTES + 1), "is no profile: it has more than 1,000,000 bytes"),
        ({**GOOD, "version": 2}, "has version 2 of a profile; this program reads 1"),
        (
            {**GOOD, "scheme": "web-0"},
            f"was made with the scheme 'web-0', and the store has {SCHEME!r}: crawl some pages of the host again with"
            " this version",
        ),
        ({**GOOD, "pages": -1}, ': "pages" must be a whole number from 0 to 4294967295, got -1'),
        ({**GOOD, "pages": True}, ': "pages" must be a whole number from 0 to 4294967295, got True'),
        ({**GOOD, "since": "today"}, ': "since" is not a number of seconds or a date like'),
        ({**GOOD, "subjects": 15}, ': "subjects" must be 16 hexadecimal digits, got 15'),
        ({**GOOD, "pieces": []}, ': "pieces" must be an object with at most 4,096 keys'),
        (
            {**GOOD, "pieces": {f"{key:016x}": f"{1:016x}" for key in range(MOST_PIECES + 1)}},
            ': "pieces" must be an object with at most 4,096 keys',
        ),
        ({**GOOD, "pieces": {"aa": "03"}}, ": a piece must be 16 hexadecimal digits, got 'aa'"),
        (
            {**GOOD, "pieces": {"00000000000000aa": None}},
            ": piece 00000000000000aa must be 16 hexadecimal digits, got None",
        ),
        (
            {**GOOD, "pieces": {"00000000000000aa": "0000000000000010"}},
            ': piece 00000000000000aa must have one of the "subjects" or more, and no others',
        ),
    ],
)
def test_what_is_no_profile_is_refused_and_changes_nothing(
    content: str | Mapping[str, Any], complaint: str, store: str, tmp_path: Path, cli: Cli
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "latin-1")
    before = profile_in(store).to_bytes()
    status, said = cli.fails("profile", store, BOARD, "--import", str(path))
    assert status == 2
    assert said.startswith(str(path))
    assert complaint in said
    assert profile_in(store).to_bytes() == before
    assert runs_of(store) == ["finished"]


def test_a_profile_that_meets_all_that_is_asked_is_taken(store: str, tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "good.json"
    path.write_text(json.dumps(GOOD))
    cli("profile", store, BOARD, "--import", str(path))
    assert profile_in(store).pieces() == [(0xAA, 3)]


# --- Pin.


def test_a_pinned_profile_is_shown_as_such_until_it_is_unpinned(store: str, cli: Cli) -> None:
    said = cli("profile", store, BOARD, "--pin")
    assert said.splitlines()[0].endswith(", known, pinned: crawls do not change it")
    assert cli("profile", store).splitlines()[1].split()[-1] == "pinned"
    assert json.loads(cli("profile", store, BOARD, "--json"))["is_pinned"] is True
    assert cli("profile", store, BOARD, "--unpin").splitlines()[0].endswith(", known")
    assert profile_in(store).is_pinned is False
    assert runs_of(store) == ["finished", "profile", "profile"]


def test_a_pinned_profile_is_imported_without_its_pin(
    store: str, other: str, tmp_path: Path, cli: Cli
) -> None:
    cli("profile", store, BOARD, "--pin")
    cli("profile", store, BOARD, "--export", str(tmp_path / "pinned.json"))
    cli("profile", other, BOARD, "--import", str(tmp_path / "pinned.json"))
    assert (profile_in(store).is_pinned, profile_in(other).is_pinned) == (True, False)


def test_a_profile_in_redis_is_imported_pinned_and_exported(redis: Any, file: Path, cli: Cli) -> None:
    place = f"{redis.url}?prefix=changes"
    cli("import", place, "--input", exported(file.with_name("none.jsonl"), [], header_for(Config())))
    assert cli("profile", place, BOARD, "--import", str(file)).splitlines()[0].endswith(", known")
    assert cli("profile", place, BOARD, "--pin").splitlines()[0].endswith(", pinned: crawls do not change it")
    assert cli("profile", place).splitlines()[1].split()[-1] == "pinned"
    assert cli("profile", place, BOARD, "--export", "-") == file.read_text()
    assert cli("profile", place, BOARD, "--unpin").splitlines()[0].endswith(", known")


# --- What cannot be.


def test_a_store_that_a_crawl_writes_to_is_left_alone(store: str, cli: Cli) -> None:
    with closing(SqliteStore(Path(store), header_for(Config()))):
        status, said = cli.fails("profile", store, BOARD, "--pin")
    assert status == 1
    assert store in said
    assert not profile_in(store).is_pinned


def test_a_damaged_profile_is_told(store: str, cli: Cli) -> None:
    with closing(SqliteStore(Path(store), header_for(Config()))) as opened:
        opened.replace_notes(SITE, [Note(BOARD, None, b"short")])
    for arguments in ([], [BOARD]):
        status, said = cli.fails("profile", store, *arguments)
        assert (status, said) == (
            1,
            f"{store}: the profile of {BOARD} is damaged: a profile takes 17 bytes and 16 for each piece, got 5",
        )


# --- Moved with a store.


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
        store.replace_notes(
            SITE, [Note(f"{name}.example", None, one.to_bytes()) for name, one in profiles.items()]
        )
    return str(path)


def learned(place: str) -> dict[str, tuple[int, int, list[tuple[int, int]], bool]]:
    """Return pages, subjects, pieces, and whether it is pinned, of each host that the store at *place* knows."""
    with place_of(place, Namespace(project=None, prefix=None)).reading() as store:
        found = {host: SiteProfile.from_bytes(data) for host, data in store.notes(SITE)}
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
        store.replace_notes(SITE, [Note("jobs.example", None, b"?")])
    status, _, warned = cli.ended("export", damaged, "--output", tmp_path / "out.jsonl")
    assert (status, "left out: 1 (profile of jobs.example (" in warned) == (1, True)
    assert len((tmp_path / "out.jsonl").read_text("ascii").splitlines()) == 1
    cli.json("merge", str(damaged), sound)
    assert learned(str(damaged)) == learned(sound)


def test_what_another_crawler_learns_meanwhile_is_not_lost(redis: RedisServer) -> None:
    loop, prefix = new_event_loop(), "learn-meanwhile"
    store = Waited(RedisStore(redis.url, prefix, RULE), loop)
    store.replace_notes(SITE, [Note("jobs.example", None, profile(2).to_bytes())])
    seen: list[bytes | None] = []

    def join(kept: bytes | None) -> bytes | None:
        if not seen:
            # Another one writes between the reading and the writing of this one: its version and its profile.
            admin(redis.url).hset(
                f"{prefix}:notes", "site jobs.example", b"-faster-" + profile(2, 3).to_bytes()
            )
        seen.append(kept)
        return Site("jobs.example", profile(1)).joined(kept)

    store.change(SITE, "jobs.example", join)
    assert seen == [profile(2).to_bytes(), profile(2, 3).to_bytes()]
    _, data = store.note(SITE, "jobs.example")
    assert data is not None
    assert SiteProfile.from_bytes(data).subject_bits == 0b1110
    store.close()
    loop.close()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"site": 5}, "has a wrong value in 'site': it is not a string"),
        ({"pieces": []}, 'has a wrong profile: "pieces" must be an object'),
    ],
)
def test_a_wrong_line_is_told(change: dict[str, Any], problem: str) -> None:
    line = json.loads(site_line(Site("jobs.example", profile(1))))
    with pytest.raises(ValueError, match=problem):
        parsed_site({**line, **change})
