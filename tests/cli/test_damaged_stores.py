"""Damaged stores on the command line: what is damaged is named, and the rest is saved."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.notes import PAGE, RULES, SITE, Note
from scrapy_simhash.store.sqlite import SqliteStore
from tests.cli.conftest import Cli, Places
from tests.cli.test_main import posix_only
from tests.cli.test_moving import POSTINGS, RULE, exported
from tests.store.redis.stores import admin
from tests.store.sqlite.stores import connected

#: What is damaged is page 0, which another one repeats.
LOST = {"sqlite": "page 0 (https://example.com/ferry)", "redis": "page with key 6665727279"}


def damage(place: str) -> None:
    url, _, prefix = place.partition("?prefix=")
    if prefix:
        client = admin(url)
        client.hset(f"{prefix}:pages", "kferry", client.hget(f"{prefix}:pages", "kferry")[:60])
    else:
        with connected(Path(place)) as connection:
            connection.execute("UPDATE pages SET value = 'many' WHERE number = 0")


@pytest.fixture
def place(places: Places, tmp_path: Path, cli: Cli) -> str:
    name = places.new()
    assert cli.ended("import", name, exported(tmp_path / "in.jsonl"))[0] == 0
    return name


def test_a_check_names_what_is_damaged(place: str, places: Places, cli: Cli) -> None:
    damage(place)
    status, said, _ = cli.ended("info", place, "--check")
    assert status == 1
    assert said.splitlines()[1:] == ["pages             6", "damaged records   1", f"  {LOST[places.kind]}"]
    status, said, _ = cli.ended("info", place, "--check", "--json")
    facts: dict[str, Any] = json.loads(said)
    assert (status, facts["pages"], facts["damaged"]) == (1, 6, [LOST[places.kind]])


def test_an_export_saves_the_rest_and_says_what_it_left_out(
    place: str, places: Places, tmp_path: Path, cli: Cli
) -> None:
    damage(place)
    rest, new = str(tmp_path / "rest.jsonl"), places.new()
    status, _, warned = cli.ended("export", place, "--output", rest)
    assert status == 1
    assert "damaged records were left out: 1; scrapy-simhash info --check" in warned
    status, said, _ = cli.ended("import", new, rest, "--json")
    assert (status, json.loads(said)["pages"]) == (0, 5)
    status, said, _ = cli.ended("info", new, "--check")
    assert (status, said.splitlines()[1:]) == (0, ["pages             5", "damaged records   0"])


def test_an_import_into_a_damaged_store_passes_over_its_damaged_page(
    place: str, tmp_path: Path, cli: Cli
) -> None:
    damage(place)
    status, said, warned = cli.ended("import", place, str(tmp_path / "in.jsonl"), "--json")
    assert (status, json.loads(said)["pages"]) == (1, len(POSTINGS) - 1)
    assert "warning: https://example.com/ferry was not stored: " in warned


def test_a_merge_takes_the_rest_of_a_damaged_store(place: str, places: Places, cli: Cli) -> None:
    damage(place)
    status, said, warned = cli.ended("import", places.new(), place, "--json")
    assert (status, json.loads(said)["pages"]) == (1, 5)
    assert "damaged records were left out: 1" in warned


@posix_only
def test_a_report_shows_the_rest_of_a_damaged_store(
    place: str, places: Places, tmp_path: Path, cli: Cli
) -> None:
    damage(place)
    out = tmp_path / "out.html"
    for arguments in (["--json"], ["--html", str(out)]):
        status, said, warned = cli.ended("report", place, *arguments)
        assert status == 1
        assert "damaged records were left out: 1; scrapy-simhash info --check" in warned
        if said:
            assert json.loads(said)["pages"] == 5
    assert "<h1>What the store knows</h1>" in out.read_text("ascii")


def test_a_store_that_is_a_link_to_itself_is_told(tmp_path: Path, cli: Cli) -> None:
    link = tmp_path / "link.sqlite"
    link.symlink_to(link)
    feed = tmp_path / "pages.jsonl"
    feed.write_text('{"url": "https://example.com/", "text": "The ferry left its berth at noon."}\n', "utf-8")
    for command in (["info", str(link)], ["import", str(link), str(feed)]):
        status, said, warned = cli.ended(*command)
        assert (status, said) in ((1, ""), (2, ""))
        assert warned.startswith("scrapy-simhash: ")
        assert "Traceback" not in warned


def test_a_check_names_damaged_runs_profiles_and_rules(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "shop.sqlite"
    with closing(SqliteStore(path, RULE)) as store:
        for kind in (SITE, RULES, PAGE):
            store.replace_notes(kind, [Note("example.com", None, b"?")])
    with connected(path) as connection:
        connection.execute("UPDATE runs SET started = 'late'")
    status, said, _ = cli.ended("info", str(path), "--check", "--json")
    assert status == 1
    assert [record.partition(" (")[0] for record in json.loads(said)["damaged"]] == [
        "run 1",
        "profile of example.com",
        "URL rules of example.com",
    ]
    status, _, warned = cli.ended("info", str(path))
    assert (status, "left out: 1; " in warned) == (1, True)
