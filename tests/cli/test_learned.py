"""Learned data about sites: shown and changed by `learned`, copied by `export` and `import`."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from pathlib import Path
from struct import pack
from typing import Any

import pytest

from benchmarks.lib.kinds import Page, kind_named, make_site
from scrapy_simhash import Config
from scrapy_simhash.cli.postings import Site
from scrapy_simhash.cli.stores import place_of
from scrapy_simhash.detector import header_for
from scrapy_simhash.notes import RULES, SITE, Note
from scrapy_simhash.observers.url_rules.urls import Note as RuleNote
from scrapy_simhash.observers.url_rules.urls import parsed_rule
from scrapy_simhash.page.site import MIN_TITLE_KEYS, SiteProfile
from scrapy_simhash.store.sqlite import SqliteStore
from tests.cli.conftest import Places
from tests.cli.example_files import feed
from tests.cli.test_moving import POSTINGS, RULE
from tests.commands import Cli

BOARD, OTHER = "jobs.example", "other.example"
SINCE = "2026-09-21T14:13:20Z"
STORY = "<title>Fog</title><h1>Fog</h1><p>" + " ".join(
    f"The {boat} went out in the fog and came home at noon with {fish}."
    for boat in ("Anna", "Berta")
    for fish in ("cod", "eels")
)


@pytest.fixture(scope="module")
def adverts() -> list[Page]:
    """The pages of a site that share text."""
    return make_site(kind_named("exercises"), 1, 1).originals()


@pytest.fixture
def board(adverts: list[Page], tmp_path: Path, places: Places, cli: Cli) -> str:
    """A store with the boilerplate model of a host and one page of another host."""
    pages = {f"https://{BOARD}/{number}": page.html for number, page in enumerate(adverts)}
    pages[f"https://{OTHER}/fog"] = STORY
    records = [{"url": url, "html": html, "fetched": SINCE} for url, html in pages.items()]
    cli("import", place := places.new(), feed(tmp_path, records))
    return place


def notes(place: str, kind: str) -> dict[Any, bytes]:
    with place_of(place, Namespace(project=None)).reading() as store:
        return dict(store.notes(kind))


def runs_of(place: str) -> list[str | None]:
    with place_of(place, Namespace(project=None)).reading() as store:
        return [run.reason for run in store.runs()]


# --- Boilerplate models.


def test_every_host_is_listed_with_its_learned_data(board: str, cli: Cli) -> None:
    known, unknown = cli.json("learned", board)["sites"]
    assert (known["host"], known["is_known"], known["since"]) == (BOARD, True, SINCE)
    assert MIN_TITLE_KEYS < known["title_keys"] <= 64
    assert known["text_blocks"] > 3
    assert unknown == {
        "host": OTHER,
        "pages": 1,
        "since": SINCE,
        "title_keys": 1,
        "is_known": False,
        "is_pinned": False,
        "text_blocks": 0,
    }
    head, *lines = cli("learned", board).splitlines()
    assert head.split() == ["host", "pages", "title", "keys", "text", "blocks", "known"]
    assert [(line.split()[0], line.split()[-1]) for line in lines] == [(BOARD, "yes"), (OTHER, "no")]


def test_two_pages_are_compared_by_the_boilerplate_model_of_their_site(
    board: str, adverts: list[Page], tmp_path: Path, cli: Cli
) -> None:
    a, b = tmp_path / "1.html", tmp_path / "3.html"
    for path, page in ((a, adverts[1]), (b, adverts[3])):
        path.write_text(page.html, "utf-8")
    options = ("--store", board, "--host", BOARD.upper())
    found, same = (cli.json("compare", a, other, *options) for other in (b, a))
    for page in found["pages"]:
        texts = [piece["text"] for piece in page["site_text"]]
        assert any("village" in text for text in texts)
        assert page["tokens"] - sum(len(text.split()) for text in texts) == page["own_tokens"] > 0
        assert all(piece["title_keys"] >= MIN_TITLE_KEYS for piece in page["site_text"] if piece["is_site"])
    # Only half of their text is the same, but all of their unique text.
    assert not found["is_near_duplicate"]
    assert found["own_similarity"] < 0.3 < found["similarity"]
    assert (same["is_near_duplicate"], same["own_similarity"]) == (True, 1.0)
    said = " ".join(cli("compare", a, b, *options).split())
    assert f"similarity of the unique text {found['own_similarity']}" in said
    assert f"{found['pages'][0]['own_tokens']} of them not repeated by its site" in said
    shared = {piece["text"] for page in found["pages"] for piece in page["site_text"]}
    assert len(shared) > 3
    assert all(f"- {text}\n" in cli("text", a, b, *options) for text in shared)
    cli("compare", a, b, *options, "--html", out := tmp_path / "out.html")
    assert "village" in out.read_text("ascii").partition('"site_text"')[2]


def test_a_pinned_profile_stays_until_it_is_unpinned(board: str, cli: Cli) -> None:
    assert cli("learned", board, BOARD, "--pin").splitlines()[1].split()[-1] == "pinned"
    assert SiteProfile.from_bytes(notes(board, SITE)[BOARD]).is_pinned
    assert cli("learned", board, BOARD, "--unpin").splitlines()[1].split()[-1] == "yes"
    assert runs_of(board)[-2:] == ["learned", "learned"]


def test_forgotten_data_is_removed(board: str, cli: Cli) -> None:
    assert cli("learned", board, BOARD, "--forget") == f"there is no data about {BOARD}\n"
    assert [site["host"] for site in cli.json("learned", board)["sites"]] == [OTHER]


@pytest.mark.parametrize("kind", [SITE, RULES])
def test_damaged_records_are_reported(kind: str, tmp_path: Path, cli: Cli) -> None:
    path = store_of(tmp_path / "pages.sqlite")
    with closing(SqliteStore(path, RULE)) as store:
        store.replace_notes(kind, [Note(BOARD, None, b"short")])
    for arguments in ([], [BOARD]):
        status, said = cli.fails("learned", path, *arguments)
        assert (status, said.partition(" is damaged: ")[0]) == (1, f"{path}: the learned data about {BOARD}")


# --- URL rules.


SID, TAGS = "parameter sid in /story/*", "order of tags in /list/*"


@pytest.fixture
def ruled(tmp_path: Path) -> str:
    """A store with the rules of two hosts."""
    path = tmp_path / "pages.sqlite"
    with closing(SqliteStore(path, header_for(Config()))) as kept:
        rules = {"example.com": SID, "other.example": TAGS}
        kept.replace_notes(
            RULES,
            [Note(host, None, RuleNote((parsed_rule(rule),)).to_bytes()) for host, rule in rules.items()],
        )
    return str(path)


# --- Export and import.


def profile(*title_keys: int, piece: int = 5, pages: int = 10, is_pinned: bool = False) -> SiteProfile:
    """Return a profile of pages with these *title_keys* and a common text block."""
    bits = sum(1 << title_key for title_key in title_keys)
    return SiteProfile.from_bytes(pack("<QII?QQ", bits, pages, 1_790_000_000, is_pinned, piece, bits))


def store_of(path: Path, **profiles: SiteProfile) -> str:
    """Return the path of a store with pages and boilerplate profiles."""
    with closing(SqliteStore(path, RULE)) as store:
        for posting in POSTINGS:
            store.claim(posting)
        store.replace_notes(
            SITE, [Note(f"{name}.example", None, one.to_bytes()) for name, one in profiles.items()]
        )
    return str(path)


def learned(place: str) -> dict[str, tuple[int, int, list[tuple[int, int]], bool]]:
    """Return the numbers of pages and title keys, the text blocks, and whether the model is pinned, for each host."""
    found = {host: SiteProfile.from_bytes(data) for host, data in notes(place, SITE).items()}
    return {
        host: (one.pages, one.title_key_bits, sorted(one.pieces()), one.is_pinned)
        for host, one in found.items()
    }


def test_profiles_are_imported_and_merged(places: Places, tmp_path: Path, cli: Cli) -> None:
    monday = store_of(tmp_path / "monday.sqlite", jobs=profile(1, 2), news=profile(7, piece=9))
    tuesday = store_of(
        tmp_path / "tuesday.sqlite", jobs=profile(2, 3, pages=4), flats=profile(8, is_pinned=True)
    )
    both, sources = places.new(), [f"{source}.jsonl" for source in (monday, tuesday)]
    for store, file in zip([monday, tuesday], sources, strict=True):
        cli("export", store, "--output", file)
    assert cli.json("import", both, *sources)["profiles"] == 4
    expected = {
        "flats.example": (10, 1 << 8, [(5, 1 << 8)], True),
        "jobs.example": (14, 0b1110, [(5, 0b1110)], False),
        "news.example": (10, 1 << 7, [(9, 1 << 7)], False),
    }
    assert learned(both) == expected
    cli.json("import", both, *sources)
    assert learned(both) == expected, "a second import adds nothing"


def test_of_two_profiles_the_pinned_one_stays() -> None:
    pinned, other = profile(1, is_pinned=True).to_bytes(), profile(2, 3).to_bytes()
    assert Site("jobs.example", SITE, pinned).joined(other) == pinned
    assert Site("jobs.example", SITE, other).joined(pinned) is None


def test_rules_are_imported_from_store_to_store(ruled: str, tmp_path: Path, cli: Cli) -> None:
    export, other = tmp_path / "export.jsonl", tmp_path / "other.sqlite"
    # A second import adds nothing.
    for _ in range(2):
        cli("export", ruled, "--output", export)
        cli("import", other, export)
        for place in ("example.com", "other.example"):
            assert cli.json("learned", other, place) == cli.json("learned", ruled, place)
    assert TAGS in cli("learned", other)
    assert TAGS not in cli("learned", other, "www.EXAMPLE.com")
