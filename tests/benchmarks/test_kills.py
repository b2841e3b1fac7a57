"""The program, run for real on a small site."""

import json

import pytest

from benchmarks import kills


@pytest.mark.slow("each kill takes as long as the crawl lives, and the store is read after it")
def test_nothing_is_lost_by_kills(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kills, "LIFE", 2)
    status = kills.main(["--pages", "120", "--kills", "3", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert (status, result["kills"], result["faults"]) == (0, 3, [])
