"""scrapy-simhash profile, on the store of a detector that has seen a job board."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.lib.shared_text import PLANS, Site, make_site
from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.cli.main import main
from scrapy_simhash.detector import header_for
from scrapy_simhash.page.pieces import SHORT_TOKENS
from scrapy_simhash.site.profile import LEAST_SUBJECTS
from scrapy_simhash.store.redis import RedisStore
from scrapy_simhash.store.sqlite import SqliteStore

Capture = pytest.CaptureFixture[str]
BOARD, OTHER = "jobs.example", "other.example"
SINCE = "2026-09-21T14:13:20Z"
STORY = "<title>Fog</title><h1>Fog</h1><p>" + " ".join(
    f"The {boat} went out in the fog and came home at noon with {fish}."
    for boat in ("Anna", "Berta")
    for fish in ("cod", "eels")
)


@pytest.fixture(scope="module")
def board() -> Site:
    return make_site(PLANS[0], 0)


@pytest.fixture(scope="module")
def folder(board: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that knows one host and has one page of another, and pages as files."""
    folder = tmp_path_factory.mktemp("profile")
    with closing(SqliteStore(folder / "pages.sqlite", header_for(Config()))) as store:
        detector = NearDuplicateDetector(store=store, clock=lambda: 1_790_000_000)
        for number, page in enumerate(board.pages):
            detector.check(page.html, f"https://{BOARD}/{number}")
        detector.check(STORY, f"https://{OTHER}/fog")
        detector.flush()
    return folder


@pytest.fixture(scope="module")
def shared(folder: Path, redis: Any) -> str:
    """The same store in Redis, filled by two crawlers."""
    place = f"{redis.url}#profiles"

    async def fill() -> None:
        config = Config()
        stores = [RedisStore(redis.url, "profiles", header_for(config)) for _ in range(2)]
        detectors = [NearDuplicateDetector(config, store) for store in stores]
        with closing(SqliteStore(folder / "pages.sqlite", read_only=True)) as filled:
            for host, profile in filled.sites():
                await stores[0].replace_site(host, b"", profile)
            for number, posting in enumerate(filled):
                await detectors[number % 2].claim_async(posting)
        for store in stores:
            await store.close()

    asyncio.run(fill())
    return place


@pytest.fixture(params=["sqlite", "redis"])
def store(request: pytest.FixtureRequest, folder: Path) -> str:
    if request.param == "redis":
        shared: str = request.getfixturevalue("shared")
        return shared
    return str(folder / "pages.sqlite")


def run(capfd: Capture, *arguments: str) -> str:
    status = main(["profile", *arguments])
    said = capfd.readouterr()
    assert (status, said.err) == (0, "")
    return said.out


def facts(capfd: Capture, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(capfd, *arguments, "--json"))
    return found


def saved(folder: Path, name: str, html: str) -> str:
    (folder / name).write_text(html, "utf-8")
    return str(folder / name)


def two_pages(board: Site, folder: Path) -> list[str]:
    """Two different adverts that have an own part."""
    return [saved(folder, f"{number}.html", board.pages[number].html) for number in (1, 3)]


def test_every_host_is_listed_with_what_was_learned_of_it(store: str, capfd: Capture, board: Site) -> None:
    known, unknown = facts(capfd, store)["hosts"]
    assert (known["host"], known["pages"], known["is_known"]) == (BOARD, len(board.pages), True)
    assert (known["since"], known["is_pinned"]) == (SINCE, False)
    assert LEAST_SUBJECTS < known["subjects"] <= 64
    assert known["pieces"] > 3
    assert unknown == {
        "host": OTHER,
        "pages": 1,
        "since": SINCE,
        "subjects": 1,
        "is_known": False,
        "is_pinned": False,
        "pieces": 0,
    }
    head, *lines = run(capfd, store).splitlines()
    assert head.split() == ["host", "pages", "subjects", "pieces", "known"]
    assert [line.split()[0] for line in lines] == [BOARD, OTHER]
    assert [line.split()[-1] for line in lines] == ["yes", "no"]


def test_a_host_is_shown_with_its_pieces_and_on_how_many_subjects_they_stood(
    store: str, capfd: Capture
) -> None:
    found = facts(capfd, store, BOARD.upper())
    counts = [piece["subjects"] for piece in found["known_pieces"]]
    assert len(counts) == found["pieces"]
    assert counts == sorted(counts, reverse=True)
    assert min(counts) >= LEAST_SUBJECTS
    said = run(capfd, store, BOARD)
    assert said.startswith(
        f"{BOARD}: {found['pages']} pages since {SINCE}, {found['subjects']} subjects, known\n"
    )
    assert sum(int(line.split()[-1]) for line in said.splitlines()[2:]) == found["pieces"]


def test_the_text_of_a_page_is_shown_with_the_text_of_the_site_marked(
    store: str, folder: Path, board: Site, capfd: Capture
) -> None:
    path = two_pages(board, folder)[0]
    (page,) = facts(capfd, store, BOARD, path)["shown"]
    site = [piece["text"] for piece in page["pieces"] if piece["is_site"]]
    own = [piece["text"] for piece in page["pieces"] if not piece["is_site"]]
    assert any("works council" in text for text in site)
    assert not any("works council" in text for text in own)
    assert sum(len(text.split()) for text in own) == page["own_tokens"] < page["tokens"]
    assert all(piece["subjects"] >= LEAST_SUBJECTS for piece in page["pieces"] if piece["is_site"])
    said = run(capfd, store, BOARD, path).splitlines()
    assert f"{path}: {page['tokens']} tokens, {page['own_tokens']} of its own" in said
    marked = [line for line in said if line.endswith(site[0])]
    assert [line.split()[0].isdigit() for line in marked] == [True]


def test_pages_are_compared_with_the_first(store: str, folder: Path, board: Site, capfd: Capture) -> None:
    a, b = two_pages(board, folder)
    (different, same) = facts(capfd, store, BOARD, a, b, a)["compared"]
    assert (different["pages"], different["is_near_duplicate"]) == ([a, b], False)
    # All their text is half the same, what is not the site's is not.
    assert different["own_similarity"] < 0.3 < different["similarity"]
    assert all(different["own_words_in_one"])
    assert same == {
        "pages": [a, a],
        "is_near_duplicate": True,
        "distance": 0,
        "similarity": 1.0,
        "own_similarity": 1.0,
        "are_different_things": False,
        "own_words_in_one": [[], []],
    }
    said = run(capfd, store, BOARD, a, b)
    assert "structured data" not in said
    assert f"{a} and {b} are not near-duplicates\n" in said
    assert f"  only in {a}: " in said


def test_structured_data_that_names_different_things_is_told(
    store: str, folder: Path, capfd: Capture
) -> None:
    a, b = (
        saved(
            folder,
            f"{town}.html",
            "<h1>Nurse</h1>" + STORY + f"<p>In {town}.</p>"
            '<script type="application/ld+json">{"@type": "JobPosting", "title": "Nurse", "jobLocation":'
            f' {{"@type": "Place", "address": "{town}"}}}}</script>',
        )
        for town in ("Kiel", "Ulm")
    )
    (pair,) = facts(capfd, store, BOARD, a, b)["compared"]
    assert (pair["is_near_duplicate"], pair["are_different_things"]) == (False, True)
    assert pair["similarity"] > 0.8
    assert "  their structured data names different things\n" in run(capfd, store, BOARD, a, b)


def test_of_a_host_that_is_not_known_nothing_is_marked(store: str, folder: Path, capfd: Capture) -> None:
    path = saved(folder, "story.html", STORY)
    (page,) = facts(capfd, store, OTHER, path)["shown"]
    assert page["own_tokens"] is None
    assert not any(piece["is_site"] or piece["may_be_site"] for piece in page["pieces"])
    assert f"{path}: {page['tokens']} tokens, no own part" in run(capfd, store, OTHER, path)


def test_a_page_without_text_is_near_no_other(store: str, folder: Path, capfd: Capture) -> None:
    path = saved(folder, "empty.html", f"<p>{'x ' * (SHORT_TOKENS - 1)}")
    (pair,) = facts(capfd, store, BOARD, path, path)["compared"]
    assert (pair["is_near_duplicate"], pair["distance"], pair["own_similarity"]) == (False, None, None)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["missing.example"], "has no profile of missing.example; without HOST, all hosts are listed"),
        ([BOARD, "missing.html"], "cannot read missing.html: No such file or directory"),
    ],
)
def test_what_is_not_there_is_a_failure(
    store: str, arguments: list[str], complaint: str, capfd: Capture
) -> None:
    assert main(["profile", store, *arguments]) == 1
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.rstrip("\n").endswith(complaint)
