"""The program, run for real on a small site."""

import json

import pytest

from benchmarks import again


@pytest.mark.slow("three crawls, each in a process of its own")
def test_a_second_crawl_asks_for_the_same_pages_and_gets_none(capsys: pytest.CaptureFixture[str]) -> None:
    again.main(["--pages", "60", "--rounds", "1", "--json"])
    result = json.loads(capsys.readouterr().out)
    (bare,), (second,) = result["rounds"]["bare"], result["rounds"]["again"]
    assert result["first"]["in full"] == 60
    assert bare["unchanged"] == second["unchanged"] == 60
    assert second["requests"] - second["checks"] == bare["requests"] == 60
    assert second["in full"] == second["checks"]
    assert result["bytes a page"]["validators"] < 2 * 60  # a page of the file is not full
