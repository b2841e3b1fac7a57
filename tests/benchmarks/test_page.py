"""The program, run for real on five pages."""

import json

import pytest

from benchmarks import page
from benchmarks.lib import sample
from benchmarks.lib.pack import Pack


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert page.main([*arguments, "--repeats", "2", "--index", "100"]) == 0
    return capsys.readouterr().out


def test_the_arrows_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    result = json.loads(run(capsys, "--example", "--pages", "5", "--json"))
    assert result["pages"] == 5
    means = {arrow: one["mean_ms"] for arrow, one in result["arrows"].items()}
    assert means["to fingerprint"] == pytest.approx(sum(means[arrow] for arrow in page.FINGERPRINT))
    assert means["all"] == pytest.approx(means["to fingerprint"] + means["search"])
    parse = result["arrows"]["parse"]
    assert (parse["median_share"], parse["share_of_all"]) == (1, 1)
    assert all(
        one["share_of_all"] * means["parse"] == pytest.approx(one["mean_ms"])
        for one in result["arrows"].values()
    )


@pytest.mark.usefixtures("no_pack")
def test_without_a_pack_the_sample_is_of_the_example_site_and_always_the_same() -> None:
    assert sample.sample([], 7) == sample.sample([], 7)
    assert len(sample.sample([], 7)) == 7


def test_a_sample_larger_than_the_pack_is_the_pack(pack: Pack) -> None:
    assert [one.url for one in sample.sample([pack], 100)] == ["/d1", "/d2", "/d3", "/d4", "/d5"]
