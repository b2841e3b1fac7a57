"""The program, run for real on small stores."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks import stores
from benchmarks.lib.store_weight import pages
from scrapy_simhash.store.sqlite import SqliteStore
from tests.store.cases import whole
from tests.store.sqlite.stores import assert_sound


def test_every_question_has_an_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "OPENINGS", 1)
    small = ["--claims", "300", "--rounds", "1", "--pages", "300", "--sizes", "200"]
    assert stores.main([*small, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [one["store"] for one in result["claims"]] == ["memory", "sqlite", "sqlite, no thread"]
    assert all(0 < one["median"] <= one["99 %"] <= one["longest"] for one in result["claims"])
    # Copies are copies of twenty pages.
    assert [(one["store"], one["contents"]) for one in result["bytes"]] == [
        ("memory", 300),
        ("sqlite", 300),
        ("memory", 20),
        ("sqlite", 20),
    ]
    assert [one["pages"] for one in result["open"]] == [200]
    text = stores.as_text(result)
    assert "more than in memory" in text
    assert "200 pages" in text


def test_a_store_that_was_written_at_one_go_is_as_one_of_claims(tmp_path: Path) -> None:
    file, other = tmp_path / "filled.sqlite", tmp_path / "claimed.sqlite"
    stores.fill(file, 100)
    assert_sound(file)
    with closing(SqliteStore(other)) as claimed:
        for posting in pages(100, 0):
            claimed.claim(posting)
    with closing(SqliteStore(file)) as filled, closing(SqliteStore(other)) as claimed:
        assert [whole(posting) for posting in filled] == [whole(posting) for posting in claimed]
        assert filled.look(posting) == claimed.look(posting)
