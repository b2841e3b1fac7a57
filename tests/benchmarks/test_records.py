"""The program, run for real on a few pages."""

import json

import pytest

from benchmarks import records


def test_every_kind_is_read_and_compared_with_fingerprints(capsys: pytest.CaptureFixture[str]) -> None:
    assert records.main(["--example", "--pages", "4", "--repeats", "1", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result["inputs"]) >= {"jsonl", "jsonl.gz", "csv", "warc.gz", "zip", "folder/"}
    assert all(0 < one["share_of_rate"] < 1 for one in result["inputs"].values())
    assert records.shown(result).splitlines()[4].startswith("a fingerprint takes ")
