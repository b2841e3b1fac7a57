"""The program, run for real on a small part of its kills."""

import json

import pytest

from benchmarks import changes


@pytest.mark.slow("it starts a process for each kill, and two more for each generation")
def test_no_change_is_lost_or_told_twice_by_kills(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "KILLS", 2)
    status = changes.main(["--kills", "4", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert (status, result["kills"], result["faults"]) == (0, 4, [])
    assert result["changes"] > 50
