"""The program, run for real on a tiny pack."""

import pytest

from benchmarks import clusters
from benchmarks.clusters import Crawl, Unlisted, address, joined, measure_pack, unlisted
from benchmarks.lib.pack import Doc, Pack, Pair
from scrapy_simhash import Config


def pair(a: str, b: str, label: str) -> Pair:
    return Pair(a, b, label, "", 1.0, "here", "en")


def doc(id: str, site: str = "a.example") -> Doc:
    return Doc(id, "", "here", "page", site)


def test_pages_in_one_cluster_are_counted_by_label_and_source(pack: Pack) -> None:
    figures = measure_pack(pack, Config(), orders=2)
    # d1 and d2 have one text; d4, of d3 and d4, is too short.
    assert figures["pages"] == 5
    assert figures["without_fingerprint"] == 1
    assert (figures["all"]["precision"], figures["all"]["recall"]) == (1, 0.5)
    assert figures["by_source"]["ferries"]["recall"] == 1
    assert figures["by_source"]["bakers"]["recall"] == 0


def test_a_duplicate_without_a_labelled_pair_is_unlisted(pack: Pack) -> None:
    figures = measure_pack(pack, Config(), orders=2, show=3)
    assert figures["unlisted"] == {"mean": 1, "worst": 1}
    assert [sorted(one["ids"]) for one in figures["unlisted_first"]] == [["d3", "d5"]]
    assert [one["ids"] for one in figures["near_apart_first"]] == [["d3", "d4"]]
    assert figures["different_first"] == []


def test_a_pair_is_joined_if_both_pages_are_in_one_cluster() -> None:
    pairs = [pair("a", "b", "near"), pair("a", "c", "different"), pair("d", "e", "near")]
    assert joined(pairs, {"a": 0, "b": 0, "c": 2}) == [True, False, False]


def test_an_unlisted_pair_is_chained_by_near_and_grey_pairs_only() -> None:
    docs = {id: doc(id) for id in "abcd"} | {"e": doc("e", "b.example")}
    pairs = [pair("a", "b", "near"), pair("b", "c", "grey"), pair("c", "d", "different")]
    assert unlisted(pairs, {"b": "a", "c": "a", "d": "a", "e": "a"}, docs) == [
        Unlisted("c", "a", is_chained=True, is_of_two_hosts=False),
        Unlisted("d", "a", is_chained=False, is_of_two_hosts=False),
        Unlisted("e", "a", is_chained=False, is_of_two_hosts=True),
    ]


def test_chains_that_meet_late_are_one() -> None:
    docs = {id: doc(id) for id in "abcd"}
    pairs = [pair("a", "b", "near"), pair("c", "d", "near"), pair("d", "b", "near")]
    assert [one.is_chained for one in unlisted(pairs, {"c": "a"}, docs)] == [True]


def test_two_versions_of_a_url_are_two_pages_of_its_host() -> None:
    first, second = (Doc(id, "https://a.example/x#top", "here", "page", "a.example") for id in "ab")
    assert address(first) == "https://a.example/x#a"
    assert address(second) == "https://a.example/x#b"
    assert address(doc("c")) == "https://a.example/#c"


def test_a_crawl_tells_clusters_and_originals(pack: Pack) -> None:
    html = clusters.read_pages(pack)
    crawl = clusters.crawl(["d1", "d3", "d2"], lambda id: f"https://a.example/{id}", html, Config())
    assert crawl == Crawl({"d1": 0, "d3": 1, "d2": 0}, {"d2": "d1"})


@pytest.mark.usefixtures("no_pack")
def test_without_a_pack_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert clusters.main([]) == 0
    assert "no evaluation pack" in capsys.readouterr().out


def test_a_setting_that_there_is_not_is_an_error(pack: Pack) -> None:
    with pytest.raises(ValueError, match="-s SIMHASH_ROLE: no such setting"):
        clusters.main(["-s", "SIMHASH_ROLE=classic"])
