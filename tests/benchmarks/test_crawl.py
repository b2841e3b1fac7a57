"""The program, run for real: Scrapy in one process, the site in another."""

import json

import pytest

from benchmarks import crawl
from benchmarks.pack import Pack
from benchmarks.readers import readers

several_crawls = pytest.mark.slow("it crawls a site once without the plugin and once with each kernel")


@several_crawls
def test_a_round_of_crawls_of_the_example_site(capsys: pytest.CaptureFixture[str]) -> None:
    assert crawl.main(["--pairs", "1", "--pages", "20", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert list(result["crawls"]) == ["off", *readers()]
    off = result["crawls"]["off"][0]
    assert off["judged"] == 0
    # A Python with Scrapy in it takes some tens of megabytes.
    assert 20 < off["peak_mb"] < 2_000
    for kernel, compared in result["on"].items():
        on = result["crawls"][kernel][0]
        assert min(off["pages"], on["pages"]) >= 20
        assert on["judged"] > 0
        speed = on["pages_per_second"] / off["pages_per_second"]
        assert compared["ratio"] == {"median": speed, "least": speed, "greatest": speed}


@several_crawls
def test_the_site_of_the_pack_is_reached_from_its_seeds(
    pack: Pack, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crawl.main(["--pairs", "1", "--pack-site"]) == 0
    lines = capsys.readouterr().out.splitlines()
    # robots.txt, the first page, and the five of the pack. One of these repeats another and one the third; the
    # first page and one other are too short.
    rows = [line.split() for line in lines if line.startswith("plugin o")]
    assert [row[:2] for row in rows] == [["plugin", "off"], *[["plugin", "on,"]] * len(readers())]
    assert {row[-7] for row in rows} == {"7"}
    assert [row[-2:] for row in rows] == [["0", "0"], *[["4", "2"]] * len(readers())]


@pytest.mark.usefixtures("no_pack")
def test_without_a_pack_there_is_no_site_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert crawl.main(["--pack-site"]) == 0
    assert "no evaluation pack in" in capsys.readouterr().out
