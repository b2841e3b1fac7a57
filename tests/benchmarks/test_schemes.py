"""The program that compares the schemes, run for real on a pack of five documents."""

import json

import pytest

from benchmarks import schemes
from benchmarks.lib.pack import VARIABLE, Pack
from scrapy_simhash.config import SCHEMES


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert schemes.main(["--jobs", "1", *arguments]) == 0
    return capsys.readouterr().out


def test_every_scheme_is_measured_on_every_pack(pack: Pack, capsys: pytest.CaptureFixture[str]) -> None:
    result = json.loads(run(capsys, "--json", "--k", "3", "0"))
    (measured,) = result["packs"]
    assert (measured["name"], measured["pages"]) == (pack.name, 5)
    figures = measured["schemes"]
    assert set(figures) == {*SCHEMES, "web, similarity"}
    for name, one in figures.items():
        assert one["without"] == 1
        assert one["bytes"] == (140 if name.startswith("web") else 12)
        assert one["ms"] > 0
        assert list(one["within"]) == (["similarity"] if "," in name else ["0", "3"])
        for scores in one["within"].values():
            # d1 and d2 have the same text, d4 is too short.
            assert (scores["precision"], scores["recall"]) == (1, 0.5)
    # d3 and d5 are equal, and nobody has labelled them.
    assert {one["unlisted"] for name, one in figures.items() if "," not in name} == {1}


def test_without_a_pack_it_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert f"{VARIABLE} is not set" in run(capsys)
