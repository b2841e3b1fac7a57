"""The program, run for real on the tiny pack: two crawls and one for the stages, each in a process of its own."""

import json

import pytest
from scrapy import version_info

from benchmarks import plugin
from benchmarks.lib.pack import Pack
from benchmarks.lib.sample import Page

SMALL = ("--pages", "5", "--rounds", "1", "--store-pages", "300")


@pytest.mark.skipif(version_info < (2, 14), reason="its download handler is a coroutine")
def test_the_pages_of_the_pack_are_crawled_with_the_plugin_off_and_on(
    pack: Pack, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plugin.main([*SMALL, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    # One page is too short; of the other four one repeats another twice.
    assert (result["pages"], result["processed"], result["near_duplicates"]) == (5, 4, 2)
    assert result["from"] == f"evaluation packs ({pack.name})"
    times = result["milliseconds"]
    assert result["added"]["median"] == pytest.approx((times["on"] - times["off"]) / times["parse"])
    assert result["ratio"]["median"] == pytest.approx(times["off"] / times["on"])
    # Every stage is reached: a function that is renamed or no longer called fails here.
    assert set(result["stages"]) == {stage for stage, _, _ in plugin.STAGES} - {plugin.PARSE}
    assert all(stage["microseconds"] > 0 for stage in result["stages"].values())
    assert result["kernel"] == result["stages"][plugin.KERNEL]["share"]
    assert result["added"]["median"] == pytest.approx(
        result["rest"] + sum(stage["share"] for stage in result["stages"].values())
    )
    text = plugin.as_text(result)
    assert all(name in text for name in ("added / parse", "off / on", *result["stages"], "bytes a page"))


def test_pages_without_a_web_address_or_with_one_that_is_taken_get_one() -> None:
    given = ["/d1", "https://example.com/a", "https://example.com/a", "", "https://example.com/a#b"]
    pages = plugin.addressed([Page(url, str(number).encode()) for number, url in enumerate(given)])
    assert [page.html for page in pages] == [b"0", b"1", b"2", b"3", b"4"]
    assert len({page.url for page in pages}) == len(given)
    assert pages[1].url == "https://example.com/a"
    assert all(page.url.startswith("https://") for page in pages)
