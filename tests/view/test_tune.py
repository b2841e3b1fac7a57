"""scrapy-simhash tune: from the pairs of a report, judged in a browser, to a threshold."""

from __future__ import annotations

import csv
import json
from dataclasses import astuple
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scrapy_simhash.cli import tune
from scrapy_simhash.view.tuning import (
    EDGES,
    Band,
    Pair,
    bands_of,
    estimates,
    least_for,
    pairs_of,
    sample,
    to_judge,
)
from tests.browser import Reader
from tests.commands import Cli

SITE = "http://a.example"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """Return a report of 120 near-duplicates, half of them identical, and 30 near misses."""
    lines: list[dict[str, Any]] = [
        {
            "url": f"{SITE}/copy/{number}",
            "status": "near_duplicate",
            "duplicate_of": f"{SITE}/{number}",
            "exact": number % 2 == 0,
            "similarity": 0.9,
            "threshold": (800 + number) / 1000,
        }
        for number in range(120)
    ]
    for number in range(30):
        miss = {"url": f"{SITE}/{number}", "similarity": 0.6, "threshold": (550 + 5 * number) / 1000}
        lines.append({"url": f"{SITE}/other/{number}", "status": "new", "near_miss": miss})
    path = tmp_path / "report.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def judged(report: Path, same: str = "same") -> Path:
    """Return answers to all pairs: near misses are different pages, near-duplicates the *same* one."""
    labels = report.with_name("labels.csv")
    rows = ["url,other,answer"]
    for line in map(json.loads, report.read_text("utf-8").splitlines()):
        miss = line.get("near_miss")
        rows.append(
            f"{line['url']},{miss['url']},different"
            if miss
            else f"{line['url']},{line['duplicate_of']},{same}"
        )
    labels.write_text("\n".join(rows) + "\n", "utf-8")
    return labels


def test_complete_answers_give_the_setting_and_its_interval(report: Path, command: Cli) -> None:
    labels = judged(report)
    said = command("tune", report, "--labels", labels, "-s", "SIMHASH_MIN_SIMILARITY=0.6")
    assert "in settings.py:\n  SIMHASH_MIN_SIMILARITY = 0.8\n" in said
    (shown,) = [line for line in said.splitlines() if line.startswith("0.80 ")]
    assert shown.count("1.000 (1.000 to 1.000)") == 2
    assert "<- as crawled" in next(line for line in said.splitlines() if line.startswith("0.60 or"))
    facts = command.json("tune", report, "--labels", labels, "--precision", "0.8")
    assert facts["chosen"] == 0.55
    assert facts["pairs"] == sum(row["pairs"] for row in facts["thresholds"]) == 150


def test_missing_answers_are_reported(report: Path, command: Cli) -> None:
    assert "No pair has been judged yet" in command("tune", report)
    labels = judged(report)
    few = labels.read_text("utf-8").splitlines()[:1] + labels.read_text("utf-8").splitlines()[-2:]
    labels.write_text("\n".join(few) + "\n", "utf-8")
    said = command("tune", report, "--labels", labels, "--precision", "0.99")
    assert "These answers show no threshold with a precision of 0.99." in said
    assert f"scrapy-simhash tune {report} --labels {labels} --pages PAGES --html judge.html" in said


def test_pairs_judged_in_a_browser_are_read(
    reader: Reader, report: Path, command: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tune, "ASKED", 2)
    pages = report.with_name("pages.jsonl")
    html = (
        "<html lang=en><title>{0}</title><nav>Menu</nav><main><p>The last wooden ferry on the river left its berth at"
        " noon, and half the town came down to the {0} to see it go.<p><b>&lt;script&gt;</b> The end.</main>"
    )
    records = [
        {"url": f"{SITE}/{path}", "html": html.format(word)}
        for path, word in [
            *((f"{number}", "quay") for number in range(120)),
            *((f"copy/{number}", "quay, it is said,") for number in range(120)),
            *((f"other/{number}", "beach") for number in range(30)),
        ]
    ]
    pages.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    out = report.with_name("judge.html")
    assert command("tune", report, "--pages", pages, "--html", out) == ""
    reader.open(str(out))
    total = int(reader.page.text_content(".lede").split(" of ")[1].split(".")[0])
    assert total >= 15
    for number in range(total - 1):
        assert f"Pair {number + 1} of {total}." in reader.page.text_content(".lede")
        shown = reader.page.text_content("section")
        assert "Menu" not in shown
        marks = reader.page.eval_on_selector_all(
            "section p mark.added", "all => all.map(one => one.textContent)"
        )
        if number == 0:
            assert reader.faults() == []
        reader.page.keyboard.press("s" if "it is said," in marks or "/copy/" in shown else "d")
    # The last answer is a mistake, corrected with the button.
    reader.page.keyboard.press("k")
    reader.page.keyboard.press("b")
    assert reader.page.get_attribute("button.skip", "aria-pressed") == "true"
    reader.page.click("button.different")
    with reader.page.expect_download() as downloaded:
        reader.page.click(f"text=Download {total} answers as CSV")
    labels = report.with_name("pairs.csv")
    assert downloaded.value.suggested_filename == labels.name
    downloaded.value.save_as(labels)
    assert reader.faults() == []
    with labels.open(newline="") as file:
        answers = [row["answer"] for row in csv.DictReader(file)]
    assert len(answers) == total
    assert {"same", "different"} == {*answers}
    facts = command.json("tune", report, "--labels", labels)
    assert sum(row["same"] + row["different"] for row in facts["thresholds"]) == total
    # The next page does not show answered pairs, but its download contains them.
    assert command("tune", report, "--labels", labels, "--html", out) == ""
    facts = json.loads(out.read_text().partition('id="facts">')[2].partition("</script>")[0])
    assert len(facts["answers"]) == total
    judged_before = {tuple(sorted(row[:2])) for row in facts["answers"]}
    assert all(tuple(sorted((pair["url"], pair["other"]))) not in judged_before for pair in facts["pairs"])


# --- From judged pairs to precision and recall by threshold.


def test_exact_copies_need_no_judgement_and_protected_pages_are_no_pairs() -> None:
    near = {"url": f"{SITE}/2", "status": "near_duplicate", "duplicate_of": SITE, "threshold": 0.87}
    (identical,) = pairs_of([{**near, "exact": True}])
    assert identical.is_same_text
    (kept,) = pairs_of([{**near, "protected": "pagination"}])
    assert sum(band.pairs for band in bands_of([kept], {})) == 0


def test_a_sample_does_not_depend_on_the_order_and_does_not_grow() -> None:
    pairs = [Pair(f"{SITE}/{number}", SITE, 0.5) for number in range(1_000)]
    chosen = sample(pairs, 100)
    assert len(chosen) == 100
    assert sample([*reversed(pairs), *pairs], 100) == chosen
    assert len(sample(pairs, 1_000)) == 1_000


def drawn(size: int, random: Random, error: float = 0.0) -> tuple[list[Pair], dict[tuple[str, str], bool]]:
    """Return pairs and their true answers: the same page from 0.7 on, with some errors."""
    pairs = [Pair(str(number), "0", random.randrange(500, 1001) / 1000) for number in range(size)]
    return pairs, {pair.key: (pair.threshold >= 0.7) is not (random.random() < error) for pair in pairs}


def test_a_pair_is_in_the_band_of_its_threshold() -> None:
    pairs = [Pair(str(edge), "0", edge) for edge in (0.0, 0.499, *EDGES, 1.0)]
    bands = bands_of(pairs, {("0", "0.5"): True, ("0", "0.55"): False})
    assert [band.begin for band in bands] == list(EDGES)
    assert [band.pairs for band in bands] == [1] * 9 + [2]
    assert [(band.same, band.different) for band in bands[:3]] == [(1, 0), (0, 1), (0, 0)]
    assert [pair.threshold for pair in bands[-1].unjudged] in ([0.95, 1.0], [1.0, 0.95])
    (identical,) = [band for band in bands_of([Pair("1", "0", 0.93, is_same_text=True)], {}) if band.pairs]
    assert (identical.identical, identical.unjudged) == (1, [])


def test_with_every_answer_estimates_equal_the_truth() -> None:
    pairs, truth = drawn(400, Random(1), 0.1)
    for one in estimates(bands_of(pairs, truth)):
        called = [pair for pair in pairs if pair.threshold >= one.threshold]
        right = sum(truth[pair.key] for pair in called)
        assert one.precision is not None
        assert one.recall is not None
        assert astuple(one.precision) == pytest.approx([right / len(called)] * 3)
        assert astuple(one.recall) == pytest.approx([right / sum(truth.values())] * 3)


@pytest.mark.slow("it estimates eight samples of 2,000 pairs")
def test_intervals_contain_the_truth_in_nine_of_ten_cases() -> None:
    held, widths = [], []
    for seed in range(8):
        random = Random(seed)
        pairs, truth = drawn(2_000, random, 0.05)
        bands = bands_of(pairs, {})
        for band in bands:
            random.shuffle(band.unjudged)
        asked = {pair.key: truth[pair.key] for pair in to_judge(bands, 0.8, 10)}
        assert 80 <= len(asked) <= 120
        for one in estimates(bands_of(pairs, asked)):
            called = [truth[pair.key] for pair in pairs if pair.threshold >= one.threshold]
            assert one.precision is not None
            held.append(one.precision.low <= sum(called) / len(called) <= one.precision.high)
            widths.append(one.precision.high - one.precision.low)
    assert sum(held) >= 0.85 * len(held)
    # The intervals are narrow enough to be useful.
    assert sum(widths) / len(widths) < 0.35


def test_the_lowest_threshold_with_proven_precision_is_chosen() -> None:
    bands = [
        Band(0.7, 0.8, same=5, different=45),
        Band(0.8, 0.9, identical=900),
        Band(0.9, 1.001, identical=10),
    ]
    chosen = least_for(0.95, estimates(bands))
    assert chosen is not None
    # 45 of 960 are different pages.
    assert chosen.threshold == 0.7
    stricter = least_for(0.96, estimates(bands))
    assert stricter is not None
    assert stricter.threshold == 0.8
    assert least_for(0.95, estimates([Band(0.8, 1.0, unjudged=[Pair("a", "b", 0.9)])])) is None
    # There are no answers about the pairs that a lower threshold would add.
    bands = [Band(0.7, 0.8, unjudged=[Pair("a", "b", 0.7)]), Band(0.8, 1.0, identical=900)]
    unknown = least_for(0.95, estimates(bands))
    assert unknown is not None
    assert unknown.threshold == 0.8


def test_pairs_near_the_threshold_are_judged_first() -> None:
    pairs = [Pair(f"{edge} {number}", "0", edge) for edge in EDGES for number in range(40)]
    pairs += [Pair(f"more {number}", "0", 0.97) for number in range(1_000)]
    asked = to_judge(bands_of(pairs, {}), 0.8, 10)
    counts = {edge: sum(pair.threshold == edge for pair in asked) for edge in EDGES[:-1]}
    assert asked[0].threshold in (0.75, 0.8)
    assert set(counts.values()) == {6}
    assert 30 <= sum(pair.threshold == 0.97 for pair in asked) <= 50
    labels = {pair.key: True for pair in asked}
    assert to_judge(bands_of(pairs, labels), 0.8, 10) == []
