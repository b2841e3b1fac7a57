"""The program, run for real on few pages."""

import json

import pytest
from scrapy import version_info

from benchmarks import overview
from benchmarks.lib.pack import Pack


@pytest.mark.skipif(version_info < (2, 14), reason="its download handler is a coroutine")
def test_a_report_and_a_store_are_shown_and_a_crawl_is_watched(
    pack: Pack, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "opens_in", lambda _: 250.0)
    assert overview.main(["--lines", "500", "--store-pages", "100", "--pages", "5", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [one["pages"] for one in result["written"]] == [500, 100]
    assert all(10_000 < one["bytes"] < 1_000_000 for one in result["written"])
    assert result["live"]["pages"] == 5
    assert overview.NOTE in result["live"]["microseconds"]
    assert 0 < result["live"]["share"] < 1
    assert "opens in ms" in overview.as_text(result)
