from __future__ import annotations

import json
import random
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash import Config
from scrapy_simhash.cli import main as cli
from scrapy_simhash.cli.plan import parsed_number
from scrapy_simhash.detector import header_for
from scrapy_simhash.index import Plan, ProbingIndex, ProbingPlan
from scrapy_simhash.index.plans.cost import CORES, choose, cost
from scrapy_simhash.index.plans.covers import plans_for
from scrapy_simhash.index.plans.probing_cost import probing_cost
from scrapy_simhash.store.indexes import index_for

Capture = pytest.CaptureFixture[str]


def answer_to(capsys: Capture, *arguments: str) -> dict[str, Any]:
    assert cli.main(["plan", "--json", *arguments]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def hashes_in(path: Path, values: list[int]) -> str:
    path.write_text("".join(f"{value}\n" for value in values))
    return str(path)


def test_every_plan_is_a_line_and_the_chosen_one_is_marked(capsys: Capture) -> None:
    assert cli.main(["plan", "--pages", "10M", "--distance", "3"]) == 0
    title, head, *lines, note = capsys.readouterr().out.splitlines()
    assert note == "a crawl with the default settings searches within 8 bits: see --distance 8"
    assert title.startswith("10,000,000 pages, near-duplicates differ in up to 3 bits")
    assert head.split() == [
        *("plan", "tables", "key", "bits", "candidates", "bytes", "a", "page", "memory", "microseconds")
    ]
    assert [line[2:].split()[0] for line in lines] == list(plans_for(3))
    chosen = choose(3, 10**7).name
    assert [line.split()[1] for line in lines if line.startswith("*")] == [chosen]
    assert len({len(line) for line in (head, *lines)}) == 1, "the columns stand straight"


def test_a_line_says_what_the_plan_takes(capsys: Capture) -> None:
    assert cli.main(["plan", "--pages", "100M", "--index", "native"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line[2:].startswith("20x32"))
    name, tables, bits, candidates, _, *_ = line.split()
    foreseen = cost(Plan.classic(), 10**8, CORES["native"])
    assert (name, tables, bits) == ("20x32", "20", "31-33")
    assert float(candidates) == pytest.approx(foreseen.candidates, rel=0.05)
    assert f"{foreseen.bytes:.0f}" in line.split()
    assert f"{foreseen.bytes / 10:.0f} GB" in line


@pytest.mark.parametrize("index", CORES)
@pytest.mark.parametrize("distance", ["0", "3", "6", "64"])
def test_json_has_the_figures_as_they_are(capsys: Capture, distance: str, index: str) -> None:
    core = CORES[index]
    answer = answer_to(capsys, "--pages", "2.5k", "--distance", distance, "--index", index)
    assert (answer["pages"], answer["distance"], answer["index"]) == (2500, int(distance), index)
    assert (answer["sample"], answer["warning"]) == (None, None)
    plans = plans_for(int(distance))
    rows = {row["plan"]: row for row in answer["plans"]}
    assert answer["crawl"] == ("probing 5" if distance == "6" else None)
    assert list(rows)[: len(plans)] == list(plans)
    assert [name for name in rows if name not in plans] == [name for name in rows if "probing" in name]
    for name, plan in plans.items():
        foreseen = cost(plan, 2500, core)
        assert rows[name] == {
            "plan": name,
            "tables": len(plan.keys),
            "key_bits": [min(plan.key_bits), max(plan.key_bits)],
            "probes": len(plan.keys),
            "candidates": foreseen.candidates,
            "bytes_per_page": foreseen.bytes,
            "bytes": round(foreseen.bytes * 2500),
            "microseconds": foreseen.microseconds,
        }


# --- The index of a crawl.


@pytest.mark.parametrize("index", CORES)
def test_the_index_of_a_crawl_is_a_line_with_what_it_takes(capsys: Capture, index: str) -> None:
    answer = answer_to(capsys, "--pages", "10M", "--distance", "8", "--index", index)
    (row,) = (row for row in answer["plans"] if row["plan"] == answer["crawl"])
    plan = ProbingPlan.even(8, 5)
    foreseen = probing_cost(plan, 10**7, CORES[index])
    assert row == {
        "plan": "probing 5",
        "tables": 5,
        "key_bits": [12, 13],
        "probes": 56,
        "candidates": foreseen.candidates,
        "bytes_per_page": foreseen.bytes,
        "bytes": round(foreseen.bytes * 10**7),
        "microseconds": foreseen.microseconds,
    }
    assert row["bytes"] < 10**9


def test_what_is_advised_is_within_a_few_bytes_of_the_leanest(capsys: Capture) -> None:
    answer = answer_to(capsys, "--pages", "10M", "--distance", "10", "--index", "native")
    assert (answer["chosen"], answer["crawl"]) == ("probing 4", "probing 5")
    rich = answer_to(capsys, "--pages", "10M", "--distance", "6", "--index", "native", "--max-bytes", "300")
    rows = {row["plan"]: row for row in rich["plans"]}
    assert rows[rich["chosen"]]["bytes_per_page"] > 40
    assert rows[rich["chosen"]]["microseconds"] < rows["probing 5"]["microseconds"]
    lean = answer_to(capsys, "--pages", "10M", "--distance", "10", "--index", "native", "--max-bytes", "36")
    assert lean["chosen"] == "probing 4"
    assert (
        cli.main(["plan", "--pages", "10M", "--distance", "10", "--index", "native", "--max-bytes", "20"])
        == 2
    )
    assert "--max-bytes must be at least" in capsys.readouterr().err


def test_the_crawl_named_is_that_of_the_settings(capsys: Capture) -> None:
    notes = {}
    for distance in ("9", "8"):
        assert cli.main(["plan", "--pages", "1M", "--distance", distance]) == 0
        notes[distance] = capsys.readouterr().out.splitlines()[-1]
    assert notes == {
        "9": "probing 5: the index of a crawl with SIMHASH_CANDIDATE_DISTANCE = 9",
        "8": "probing 5: the index of a crawl with SIMHASH_CANDIDATE_DISTANCE = 8, the default",
    }
    index = index_for(header_for(Config()).rule)
    assert isinstance(index, ProbingIndex)
    assert (index.plan, index.plan.name) == (ProbingPlan.even(8, 5), "probing 5")


def test_a_small_scope_of_pure_python_takes_half_a_kilobyte_a_page(capsys: Capture) -> None:
    answer = answer_to(capsys, "--pages", "500", "--distance", "8", "--index", "pure")
    (row,) = (row for row in answer["plans"] if row["plan"] == "probing 5")
    assert 400 < row["bytes_per_page"] < 600


def test_more_memory_buys_more_tables(capsys: Capture) -> None:
    arguments = ["--pages", "1G", "--index", "native"]
    lean = answer_to(capsys, *arguments, "--max-bytes", "40")
    rich = answer_to(capsys, *arguments, "--max-bytes", "300")
    rows = {row["plan"]: row for row in lean["plans"]}
    assert rows[lean["chosen"]]["bytes_per_page"] <= 40 < rows[rich["chosen"]]["bytes_per_page"] <= 300
    assert rows[rich["chosen"]]["microseconds"] < rows[lean["chosen"]]["microseconds"]


# --- A sample.


def test_a_sample_of_random_hashes_changes_next_to_nothing(capsys: Capture, tmp_path: Path) -> None:
    draw = random.Random(3)
    sample = hashes_in(tmp_path / "hashes", [draw.getrandbits(64) for _ in range(5000)])
    answer = answer_to(capsys, "--pages", "1M", "--sample", sample)
    four = answer["plans"][0]
    assert (answer["sample"], answer["warning"]) == (5000, None)
    assert four["effective_bits"] == pytest.approx(16, abs=0.1)
    assert four["times_random"] == pytest.approx(1, abs=0.1)
    assert four["candidates"] == pytest.approx(61, rel=0.1)


def test_a_sample_of_uneven_hashes_is_warned_of(capsys: Capture, tmp_path: Path) -> None:
    draw = random.Random(3)
    sample = hashes_in(tmp_path / "hashes", [draw.getrandbits(64) & ~(0xFFF << 20) for _ in range(5000)])
    arguments = ["plan", "--pages", "1M", "--index", "native", "--sample", sample]
    assert cli.main(arguments) == 0
    *_, warning = capsys.readouterr().out.splitlines()
    assert warning.startswith("warning: these hashes are uneven: 4x16 compares 1,0")
    answer = answer_to(capsys, *arguments[1:])
    assert f"warning: {answer['warning']}" == warning
    # Three tables of 16 bits and one of 4, of which a sixteenth are candidates.
    assert answer["plans"][0]["candidates"] == pytest.approx(10**6 / 16, rel=0.1)


def test_a_sample_counts_the_candidates_of_the_index_of_a_crawl_too(capsys: Capture, tmp_path: Path) -> None:
    draw = random.Random(3)
    values = [draw.getrandbits(64) for _ in range(5000)]
    arguments = ["--pages", "10M", "--distance", "10", "--index", "native", "--sample"]
    even = answer_to(capsys, *arguments, hashes_in(tmp_path / "even", values))
    (row,) = (row for row in even["plans"] if row["plan"] == "probing 4")
    assert row["times_random"] == pytest.approx(1, abs=0.1)
    assert row["effective_bits"] == pytest.approx(16, abs=0.1)
    stuck = answer_to(capsys, *arguments, hashes_in(tmp_path / "stuck", [value & ~0xFF for value in values]))
    (row,) = (row for row in stuck["plans"] if row["plan"] == "probing 4")
    # One of the four blocks has 8 bits that differ instead of 16: every seventh agrees in 6 of these.
    assert row["times_random"] > 10
    assert stuck["warning"].startswith("these hashes are uneven: probing 4 compares")


def test_near_duplicates_of_the_sample_are_no_unevenness(capsys: Capture, tmp_path: Path) -> None:
    draw = random.Random(3)
    values = [draw.getrandbits(64) for _ in range(1000)]
    copies = [value ^ 1 << draw.randrange(64) for value in values]
    answer = answer_to(capsys, "--pages", "1M", "--sample", hashes_in(tmp_path / "hashes", values + copies))
    assert (answer["sample"], answer["warning"]) == (1000, None)


def test_a_sample_may_be_hexadecimal(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "hashes"
    path.write_text("0xffffffffffffffff\n0x1\n\n")
    assert answer_to(capsys, "--pages", "1M", "--sample", str(path))["sample"] == 2
    path.write_text("ffffffffffffffff\n1\n")
    assert answer_to(capsys, "--pages", "1M", "--sample", str(path), "--hex")["sample"] == 2


# --- What is refused, in a sentence, with status 2.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pages", "1M", "--max-bytes", "9"], "--max-bytes must be at least 35 for a distance of 3"),
        (
            ["--pages", "1M", "--sample", "one"],
            "--sample must have at least two hashes that are not near-duplicates, got 1",
        ),
        (
            ["--pages", "1M", "--sample", "none"],
            "--sample must have at least two hashes that are not near-duplicates, got 0",
        ),
        (["--pages", "1M", "--sample", "wrong"], "wrong:2: '2.5' is neither"),
    ],
)
def test_what_cannot_be_is_refused(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one").write_text("1\n2\n3\n")
    Path("none").write_text("\n")
    Path("wrong").write_text("1\n2.5\n")
    assert cli.main(["plan", "--index", "native", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_sample_that_is_not_there_is_a_failure(capsys: Capture, tmp_path: Path) -> None:
    assert cli.main(["plan", "--pages", "1M", "--sample", str(tmp_path / "nowhere")]) == 1
    assert "cannot read" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--pages", "many"],
        ["--pages", "-1"],
        ["--pages", "1M", "--distance", "65"],
        ["--pages", "1M", "--index", "fast"],
    ],
)
def test_wrong_usage_ends_with_status_2(capsys: Capture, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["plan", *arguments])
    assert end.value.code == 2
    assert "usage: scrapy-simhash plan" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("1000", 1000),
        ("10M", 10**7),
        ("10m", 10**7),
        ("2.5k", 2500),
        ("0.001k", 1),
        ("1_000_000", 10**6),
        ("1,000,000", 10**6),
        ("8G", 8 * 10**9),
        ("8b", 8 * 10**9),
        (" 3K ", 3000),
    ],
)
def test_numbers_are_written_as_people_write_them(text: str, number: int) -> None:
    assert parsed_number(text) == number


@pytest.mark.parametrize(
    "text", ["", "M", "1.5", "1e6", "10MB", "-3", "1.0005k", "9999999G", "0x10", "٣", "1 000"]
)
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="must be a whole number"):
        parsed_number(text)
