"""The program, run for real: a dozen kills of claims, and some of crawls."""

import json

import pytest

from benchmarks import kills

many = pytest.mark.slow("each kill takes as long as the process lives, and the store is read after it")


@pytest.mark.parametrize(
    ("of", "options", "count"),
    [
        ("claims", ["--store-only"], 4),
        pytest.param("claims", ["--store-only"], 12, marks=many),
        pytest.param("crawls", ["--pages", "120"], 3, marks=many),
    ],
)
def test_nothing_is_lost_by_kills(
    of: str,
    options: list[str],
    count: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kills, "CRAWL_LIFE", 2)
    status = kills.main([*options, "--kills", str(count), "--json"])
    result = json.loads(capsys.readouterr().out)
    assert (status, result["of"], result["kills"], result["faults"]) == (0, of, count, [])
