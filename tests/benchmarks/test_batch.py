from __future__ import annotations

import json

import pytest

from benchmarks import batch
from benchmarks.lib.pack import VARIABLE


@pytest.mark.slow("starts processes several times")
def test_each_part_has_its_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(batch, "alone", lambda function, *arguments: function(*arguments))
    monkeypatch.setattr(batch, "ROUNDS", 1)
    assert batch.main(["--pages", "30", "--copies", "2", "--records", "100", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert list(figures) == ["speed generated", "processes generated", "memory"]
    speed, processes, memory = figures.values()
    assert speed["pages"] == 30
    assert 0 < speed["of_kernel"] < 1
    assert processes["pages"] == 60
    assert memory["records"] == 100
    assert 60 < memory["kept"] < 95
