"""``scrapy-simhash report`` on a store: the same pages and clusters that ``info`` counts, whichever keeps them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Places
from tests.cli.test_moving import exported


@pytest.fixture
def place(places: Places, tmp_path: Path, cli: Cli) -> str:
    place = places.new()
    cli("import", place, "--input", exported(tmp_path / "export.jsonl"))
    return place


def test_pages_and_clusters_are_those_of_info(place: str, cli: Cli) -> None:
    told = json.loads(cli("report", place, "--json"))
    known = cli.json("info", place)
    assert told["source"] == {"kind": "store", "name": known["place"]}
    assert (told["pages"], told["clusters"]) == (known["pages"], known["clusters"])
    assert told["status"]["near_duplicate"] == known["near_duplicates"]
    shown = [{"url": one["first"], "pages": one["pages"]} for one in told["largest_clusters"]]
    assert shown == known["largest_clusters"]
    assert sum(bar["new"] + bar["near_duplicates"] for bar in told["timeline"]["bars"]) == known["pages"]
    # What only a report has.
    assert told["action"] == told["exemption"] == {}
    assert told["savings"]["led_to"] is None


def test_a_summary_and_a_page_are_written_of_it(place: str, tmp_path: Path, cli: Cli) -> None:
    assert cli("report", place).startswith("pages             6\nstatus\n")
    out = tmp_path / "out.html"
    assert cli("report", place, "--html", str(out)) == ""
    assert "A store does not keep this." in out.read_text("ascii")


def test_what_is_no_store_of_this_version_is_refused_in_a_sentence(tmp_path: Path, cli: Cli) -> None:
    path, out = tmp_path / "store.sqlite", tmp_path / "out.html"
    cli("import", str(path), "--input", exported(tmp_path / "export.jsonl"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")
    for arguments in ([], ["--html", str(out)]):
        status, said = cli.fails("report", str(path), *arguments)
        assert (status, said.count("\n")) == (1, 0)
        assert str(path) in said
    assert not out.exists()
    # Some other file of SQLite, and one that is cut off.
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE boats (name)")
    cut = tmp_path / "cut.sqlite"
    cut.write_bytes(path.read_bytes()[:5000])
    for broken in (other, cut):
        status, said = cli.fails("report", str(broken))
        assert (status, said.count("\n"), broken.name in said) == (1, 0, True)


def test_a_page_that_cannot_be_written_is_told_in_a_sentence(place: str, tmp_path: Path, cli: Cli) -> None:
    status, said = cli.fails("report", place, "--html", str(tmp_path / "missing" / "out.html"))
    assert (status, said.startswith("cannot write ")) == (1, True)
    assert cli("report", place, "--html", "-").startswith("<!DOCTYPE html>")
