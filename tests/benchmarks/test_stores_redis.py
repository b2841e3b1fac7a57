"""The programs, run for real with few pages."""

import json

import pytest

pytest.importorskip("redis", reason="redis is not installed")
from benchmarks import claimers, redis_cluster, stores_redis
from scrapy_simhash.store import Claim


def test_claims_and_bytes_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--sizes", "50", "--claims", "10", "--concurrency", "1", "16"]
    assert stores_redis.main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    (one,) = result["results"]
    assert {(claim["kind"], claim["concurrency"]) for claim in one["claims"]} == {
        (kind, concurrency) for kind in ("new", "copies", "again") for concurrency in (1, 16)
    }
    assert one["bytes"] > 0
    assert stores_redis.main(arguments) == 0
    assert "50 copies" in capsys.readouterr().out


def test_what_learning_costs_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--learning", "--sections", "1"]
    assert stores_redis.main([*arguments, "--json"]) == 0
    without, learning = json.loads(capsys.readouterr().out)["results"]
    assert without["pages"] == learning["pages"] == 80
    assert without["own_parts"] == without["profiles"] == 0
    # In a file this is how much a page with an own part takes; some have none.
    assert 7 < learning["own_parts"] < 127
    assert 0 < learning["profiles"] < 100
    assert learning["commands"] < without["commands"] + 1
    assert stores_redis.main(arguments) == 0
    assert "80 pages with learning" in capsys.readouterr().out


def test_of_identical_pages_of_many_crawlers_exactly_one_is_new(capsys: pytest.CaptureFixture[str]) -> None:
    assert claimers.main(["--crawlers", "4", "--pages", "200", "--runs", "2", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [(run["claims"], run["new"], run["wrong"]) for run in runs] == [(800, 50, [])] * 2


def test_what_is_wrong_would_be_told() -> None:
    new, copy = Claim(None, 0, 0, None, None, None), Claim(None, 0, 0, "https://a.example/1/0", 0, 1.0)
    a, b, c = (f"https://{name}.example/1/0" for name in "abc")
    assert list(claimers.faults([(a, new), (b, copy), (c, copy)])) == []
    assert list(claimers.faults([(a, new), (b, new), (c, copy)])) == [f"cluster 1: 2 pages are new: {a}, {b}"]
    assert list(claimers.faults([(b, new), (c, copy)])) == [f"cluster 1: not all name {b}"]


@pytest.mark.slow("it starts a cluster of six servers")
def test_a_cluster_is_measured_beside_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--scopes", "20", "--active", "10", "--pages", "2", "--rounds", "2"]
    assert redis_cluster.main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {kind: measured["rounds"] for kind, measured in result["claims"].items()} == {
        "steady": 2,
        "new scopes": 2,
    }
    assert all(measured["share"] > 0 for measured in result["claims"].values())
    assert len(result["memory"]) == 2
