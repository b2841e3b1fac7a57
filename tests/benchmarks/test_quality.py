"""The program, run for real on a pack of five documents."""

import json
import os
import shutil
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest
from lxml import html

from benchmarks import quality
from benchmarks.lib import quality_peers
from benchmarks.lib.pack import VARIABLE, Pack

EXAMPLE = cache(quality.measure_example)


@pytest.fixture(autouse=True)
def example_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures of the example site stand beside those of any pack, and are the same each time."""
    monkeypatch.setattr(quality, "measure_example", lambda ks: deepcopy(EXAMPLE(tuple(ks))))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert quality.main(list(arguments)) == 0
    return capsys.readouterr().out


def test_the_figures_of_the_tiny_pack(pack: Pack, capsys: pytest.CaptureFixture[str]) -> None:
    result = json.loads(run(capsys, "--jobs", "1", "--json", "--k", "3", "0"))
    (measured,) = result["packs"]
    assert list(measured["within"]) == ["0", "3", "similarity"]
    at_3 = measured["within"]["3"]
    # d1-d2 is found; d3-d4 is not, since d4 is too short; d1-d3 is no error; d2-d3 is grey.
    expected = {
        "near": 2,
        "near_within": 1,
        "different": 1,
        "different_within": 0,
        "precision": 1,
        "recall": 0.5,
    }
    assert at_3["all"] == expected
    assert at_3["mean_over_sources"] == {"precision": 1, "recall": 0.5}
    assert {name: one["recall"] for name, one in at_3["by_source"].items()} == {"ferries": 1, "bakers": 0}
    assert set(at_3["by_language"]) == {"en", "en+zh"}
    assert {name: one["near"] for name, one in at_3["by_similarity"].items()} == {
        "=1": 1,
        ".90-.95": 1,
        "below .90": 0,
    }
    assert set(at_3["by_kind"]) == {"near: same", "near: cut", "different: odd"}
    unlisted = {"distance": 0, "similarity": 1, "ids": ["d3", "d5"], "urls": ["/d3", "/d5"]}
    for rule in ("3", "similarity"):
        assert measured["within"][rule]["unlisted"] == {
            "count": 1,
            "of_two_sites": 0,
            "first": [unlisted],
        }
    assert measured["within"]["similarity"]["all"] == expected
    assert measured["checked_by_own_scorer"] is True
    assert measured["no_fingerprint"]["bakers"] == {"pages": 3, "without": 1}
    perfect = {"pages": 1, "precision": 1, "recall": 1, "f1": 1}
    assert measured["extraction"] == {"all": perfect, "article": perfect}


def test_several_packs_are_measured_one_by_one(
    pack: Pack, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copytree(pack.folder, tmp_path / "another")
    folders = [str(pack.folder), str(tmp_path / "missing"), "", str(copy)]
    monkeypatch.setenv(VARIABLE, os.pathsep.join(folders))
    first, second = json.loads(run(capsys, "--jobs", "1", "--json", "--k", "3"))["packs"]
    assert (first.pop("name"), second.pop("name")) == (pack.name, "another")
    assert first == second
    run(capsys, "--jobs", "1", "--k", "3", "--html", str(tmp_path / "quality.html"))
    assert {file.name for file in tmp_path.glob("*.html")} == {
        f"quality-{pack.name}.html",
        "quality-another.html",
    }


def test_many_processes_find_what_one_finds(pack: Pack) -> None:
    assert quality.measure_pack(pack, [3], jobs=2) == quality.measure_pack(pack, [3], jobs=1)


def test_a_scorer_of_another_opinion_is_not_passed_over(pack: Pack) -> None:
    (pack.folder / "pack.py").write_text("def score(fps, k): return {'unlisted_within_k': []}", "utf-8")
    with pytest.raises(RuntimeError, match="other unlisted pairs"):
        quality.measure_pack(pack, [3])


@pytest.mark.usefixtures("no_pack")
def test_without_a_pack_the_example_site_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    result = json.loads(run(capsys, "--json", "--k", "3"))
    assert result["packs"] == []
    assert "no evaluation pack in" in result["skipped"]
    at_3 = result["example"]["within"]["3"]
    assert at_3["all"]["near"] == result["example"]["pairs"]["near"]
    assert at_3["by_grade"][">=.99"]["recall"] > 0.85
    assert at_3["all"]["precision"] > 0.9
    look = result["example"]["within"]["similarity"]["all"]
    assert look["precision"] >= at_3["all"]["precision"]
    assert look["recall"] >= at_3["all"]["recall"]


def test_without_the_other_libraries_a_plain_message(
    pack: Pack, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quality_peers, "NEEDED", ("no_such_distribution",))
    last = run(capsys, "--jobs", "1", "--k", "3", "--peers")
    assert "peers not measured: no no_such_distribution here; pip install -e '.[bench]' brings them" in last


def test_the_hold_out_names_a_choice_for_each_source_with_near_pairs(
    pack: Pack, capsys: pytest.CaptureFixture[str]
) -> None:
    result = json.loads(run(capsys, "--jobs", "1", "--k", "3", "--hold-out", "--json"))["packs"][0][
        "hold_out"
    ]
    assert [(one["source"], one["recall"]) for one in result["left_out"]] == [("bakers", 0), ("ferries", 1)]
    assert len(result["grid"]) == 12
    assert "left out" in run(capsys, "--jobs", "1", "--k", "3", "--hold-out")


def test_the_html_page_stands_alone(pack: Pack, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "quality.html"
    run(capsys, "--jobs", "1", "--k", "3", "--html", str(file))
    page = file.read_text("utf-8")
    root = html.fromstring(page)
    assert len(root.findall(".//svg")) >= 4
    assert not root.xpath("//script | //link | //img | //*[@src]")
    assert "d3" in page  # the miss: d4 is too short
