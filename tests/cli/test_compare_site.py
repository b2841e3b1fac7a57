"""compare with the boilerplate model in a store, after a detector has read a site whose pages share text."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.lib.kinds import Page, kind_named, make_site
from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.cli.main import main
from scrapy_simhash.detector import header_for
from scrapy_simhash.page.site.profile import MIN_TITLE_KEYS
from scrapy_simhash.store.sqlite import SqliteStore
from tests.commands import Cli

BOARD, OTHER = "jobs.example", "other.example"
STORY = "<title>Fog</title><h1>Fog</h1><p>" + " ".join(
    f"The {boat} went out in the fog and came home at noon with {fish}."
    for boat in ("Anna", "Berta")
    for fish in ("cod", "eels")
)


@pytest.fixture(scope="module")
def board() -> list[Page]:
    return make_site(kind_named("exercises"), 1, 1).originals()


@pytest.fixture(scope="module")
def folder(board: list[Page], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the boilerplate model of one host and a page of another host, and pages as files."""
    folder = tmp_path_factory.mktemp("profile")
    with closing(SqliteStore(folder / "pages.sqlite", header_for(Config()))) as store:
        detector = NearDuplicateDetector(store=store, clock=lambda: 1_790_000_000)
        for number, page in enumerate(board):
            detector.check(page.html, f"https://{BOARD}/{number}")
        detector.check(STORY, f"https://{OTHER}/fog")
        detector.flush()
    return folder


@pytest.fixture(params=["sqlite", "redis"])
def store(request: pytest.FixtureRequest, folder: Path) -> str:
    """The same pages in a file, or in Redis."""
    place = str(folder / "pages.sqlite")
    if request.param == "redis":
        source, place = place, f"{request.getfixturevalue('redis').url}?prefix=profiles"
        assert (
            main(["export", source, "-o", f"{source}.jsonl"])
            == main(["import", place, f"{source}.jsonl"])
            == 0
        )
    return place


def saved(folder: Path, name: str, html: str) -> str:
    (folder / name).write_text(html, "utf-8")
    return str(folder / name)


def two_pages(board: list[Page], folder: Path) -> list[str]:
    """Two different adverts with unique text."""
    return [saved(folder, f"{number}.html", board[number].html) for number in (1, 3)]


# --- Two pages compared with the boilerplate model of their site.


def test_the_boilerplate_of_the_site_is_shown_with_its_number_of_title_keys(
    store: str, folder: Path, board: list[Page], cli: Cli
) -> None:
    a, b = two_pages(board, folder)
    found = cli.json("compare", a, b, "--store", store, "--host", BOARD.upper())
    for page in found["pages"]:
        texts = [piece["text"] for piece in page["site_text"]]
        assert any("village" in text for text in texts)
        assert page["tokens"] - sum(len(text.split()) for text in texts) == page["own_tokens"] > 0
        assert all(piece["title_keys"] >= MIN_TITLE_KEYS for piece in page["site_text"] if piece["is_site"])
    said = cli("compare", a, b, "--store", store, "--host", BOARD)
    assert f"{found['pages'][0]['own_tokens']} of them not repeated by its site" in said
    distinct = {piece["text"] for page in found["pages"] for piece in page["site_text"]}
    assert len(distinct) > 3
    assert all(f"- {text}\n" in cli("text", a, b, "--store", store, "--host", BOARD) for text in distinct)
    out = folder / "out.html"
    cli("compare", a, b, "--store", store, "--host", BOARD, "--html", str(out))
    assert "village" in out.read_text("ascii").partition('"site_text"')[2]


def test_different_pages_of_a_site_are_distinguished_by_unique_text(
    store: str, folder: Path, board: list[Page], cli: Cli
) -> None:
    a, b = two_pages(board, folder)
    different, same = (
        cli.json("compare", a, b, "--store", store, "--host", BOARD),
        cli.json("compare", a, a, "--store", store, "--host", BOARD),
    )
    # Their whole text is only half the same, their unique text entirely.
    assert not different["is_near_duplicate"]
    assert different["own_similarity"] < 0.3 < different["similarity"]
    assert (same["is_near_duplicate"], same["own_similarity"]) == (True, 1.0)
    own = f"similarity of the unique text {different['own_similarity']}"
    assert own in " ".join(cli("compare", a, b, "--store", store, "--host", BOARD).split())
