"""The program, run for real on few pages."""

import json
from pathlib import Path

import pytest

from benchmarks import hints
from benchmarks.lib import pack
from scrapy_simhash.judge.hints import HINTS

URL = "http://example.com/"
PAGES = {
    name: hints.tell(html.encode(), URL + name)
    for name, html in {
        "story": "<p>The ferry went out in the fog.",
        "print": '<link rel="canonical" href="/story"><p>The ferry went out in the fog.',
        "boats": "".join(f'<li><a href="/{n}">Boat {n}</a>' for n in range(9)),
    }.items()
}


def test_kinds_are_counted_in_shares() -> None:
    found = hints.measure_kinds(PAGES, {"story": "text", "print": "text", "boats": "list"})
    assert found == {
        "list": {"pages": 1, "listing": 1, "product": 0},
        "text": {"pages": 2, "listing": 0, "product": 0},
    }


def test_pairs_are_counted_in_shares_of_each_hint_and_protection() -> None:
    questions = [
        hints.Question("near", "print", "story"),
        hints.Question("near", "story", "print"),
        hints.Question("different", "boats", "story"),
    ]
    found = hints.measure_pairs(PAGES, questions)
    assert list(found["near"]) == ["pairs", *HINTS, *hints.PROTECTED]
    assert {name: value for name, value in found["near"].items() if value} == {"pairs": 2, "canonical": 0.5}
    assert {name: value for name, value in found["different"].items() if value} == {"pairs": 1, "listing": 1}


def test_without_a_pack_the_example_site_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv(pack.VARIABLE, str(tmp_path))
    monkeypatch.setattr(hints, "RUNS", 1)
    assert hints.main(["--json", "--sample", "5"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result) == {"environment", "example site", "cost"}
    assert result["example site"]["duplicate"]["pairs"] > 400
    assert set(result["cost"]) == {"parse", *hints.STEPS}
    assert hints.main(["--sample", "1"]) == 0
    assert "no evaluation pack" in capsys.readouterr().out
