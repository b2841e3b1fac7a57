"""The program that grows a catalogue, run for real on a small one in each store."""

import json

import pytest

from benchmarks import catalogue


@pytest.mark.parametrize("kind", catalogue.STORES)
def test_no_product_is_merged_and_copies_are_found(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    if kind == "redis":
        pytest.importorskip("redis", reason="redis is not installed")
    assert catalogue.main(["--sizes", "300", "700", "--stores", kind, "--json"]) == 0
    ((_, sizes),) = json.loads(capsys.readouterr().out)["stores"].items()
    assert [one["pages"] for one in sizes] == [300, 700]
    for one in sizes:
        assert one["merged"] == 0
        assert one["found"] > 0.95
        assert 0 < one["mean_ms"] < one["longest_ms"]


def test_the_catalogue_is_the_same_in_every_run() -> None:
    pages = list(catalogue.pages(40))
    assert pages == list(catalogue.pages(40))
    assert sum(page.is_copy for page in pages) == 4
    assert len({page.product for page in pages}) == 36
