"""The program, run for real on few pages, with other libraries that are stand-ins."""

import json
from itertools import islice
from typing import Any

import pytest

from benchmarks import kernel
from benchmarks.lib import kernel_peers
from benchmarks.lib.kernel_tables import WAYS
from benchmarks.lib.readers import NATIVE, PURE, readers
from benchmarks.lib.texts import CHARACTERS, WORDS, cut, text_sets
from scrapy_simhash import PageFingerprinter

KERNELS = list(readers())


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small enough for a test: the threads read two pages, and the largest page is a kilobyte."""
    monkeypatch.setattr(kernel, "LARGE", 1_000)
    monkeypatch.setattr(kernel, "LARGE_PAGES", 2)
    monkeypatch.setattr(kernel, "HUGE", 1_000)
    monkeypatch.setattr("benchmarks.lib.texts.COUNT", 2)


@pytest.fixture
def no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that does not tell how much a process has, which also saves the time of starting some."""
    monkeypatch.setattr(kernel, "tells_memory", lambda: False)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert kernel.main([*arguments, "--repeats", "1"]) == 0
    read = capsys.readouterr()
    assert not read.err  # it is quiet where nobody watches
    return read.out


@pytest.fixture
def no_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any other library."""

    def refuse(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr("benchmarks.lib.kernel_peers.import_module", refuse)


def test_every_figure_is_there_for_every_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    result = json.loads(run(capsys, "--example", "--pages", "3", "--json"))
    assert result["kernels"] == KERNELS
    assert result["pages"]["pages"] == 3
    parse = result["pages"]["parse"]
    assert (parse["ratio_of_sums"], parse["median_ratio"]) == (1, 1)
    for name in KERNELS:
        assert list(result["pages"][name]) == list(WAYS)
        assert all(one["ratio_of_sums"] > 0 < one["median_ratio"] for one in result["pages"][name].values())
        assert all(one["speed_up"]["median"] > 0 for one in result["threads"][name].values())
        assert result["memory"] is None or set(result["memory"][name]) == {
            "first_pages",
            "same_again",
            "huge_page",
        }
    assert {name for one in result["texts"] for name in one["microseconds"]} == set(KERNELS)
    assert {"Russian, 1,000 words, drawn", "Thai, 2,000 characters, drawn"} < {
        one["name"] for one in result["texts"]
    }


@pytest.mark.usefixtures("no_pack", "no_memory")
def test_without_a_pack_the_example_site_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "--pages", "30")
    assert "from the example site" in out
    assert "English, 5,000 words" in out
    assert "Chinese, 2,000 characters" in out


@pytest.mark.usefixtures("no_peers", "no_memory")
def test_missing_peers_are_named_and_the_rest_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    result = json.loads(run(capsys, "--example", "--pages", "3", "--peers", "--json"))
    assert set(result["missing"]) == {
        "datasketch",
        "gaoya",
        "python-simhash",
        "rensa",
        "simhash",
        "simhash-pybind",
        "text-dedup",
        "trafilatura",
    }
    assert "extraction" not in result
    assert result["texts"][0]["microseconds"][PURE] > 0


def test_a_peer_that_raises_is_left_out_with_its_reason() -> None:
    def too_long(text: str) -> int:
        raise OverflowError("256 is out of bounds")

    sets = text_sets([])
    (first, *_) = kernel.measure_texts(sets[:1], {"fast": len, "simhash": too_long}, 1)
    assert first["microseconds"]["simhash"] is None
    assert first["microseconds"]["fast"] > 0
    assert first["failed"] == {"simhash": "OverflowError: 256 is out of bounds"}


def test_distributions_that_share_a_module_name_are_told_apart(tmp_path: Any) -> None:
    for folder, line in (("one", "simhash = len"), ("two", "def c_compute(): ...\ncompute = sum")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "simhash.py").write_text(line, "utf-8")
    found, missing = kernel_peers.load([str(tmp_path / "one"), str(tmp_path / "two")])
    assert found["python-simhash, words"]("a b c") == 3
    assert found["python-simhash, shingles of 3 words"]("a b c d") == 2
    assert "simhash-pybind, as its README has it" in found
    assert not {"python-simhash", "simhash-pybind"} & set(missing)


def test_both_kernels_give_one_fingerprint() -> None:
    text = next(
        cut(["The ferry left the harbour at six, as it had done for all of forty years."], WORDS, 100)
    )
    assert len({reader.from_text(text) for reader in readers().values()}) == 1
    assert (NATIVE in KERNELS) == (PageFingerprinter()._compiled is not None)


def test_texts_are_cut_to_size_and_go_on_without_end() -> None:
    texts = ["One of them. And two!", "三月的风。四月的雨。"]
    assert [len(text.split()) for text in islice(cut(texts, WORDS, 5), 20)] == [5] * 20
    assert {len(text) for text in islice(cut(texts, CHARACTERS, 7), 20)} == {7}
    assert list(islice(cut(texts, WORDS, 5), 9)) == list(islice(cut(texts, WORDS, 5), 9))
