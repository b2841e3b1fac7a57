"""What can be pickled, and used in other processes: the fingerprinter, settings, an empty detector, plain values."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash import (
    Config,
    Fingerprint,
    Match,
    NearDuplicateDetector,
    PageFingerprinter,
    Reason,
    SimhashIndex,
    Status,
    Verdict,
    kernel,
)
from scrapy_simhash.action import Action
from scrapy_simhash.detector import header_for
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.judge.hints import read_hints
from scrapy_simhash.judge.policy import Decision
from scrapy_simhash.judge.rule import ClassicRule, SimilarityRule
from scrapy_simhash.observers.floods import Flood, Kind
from scrapy_simhash.page.text import parse
from scrapy_simhash.store import Header, Posting
from scrapy_simhash.store.base import Claim
from scrapy_simhash.store.sqlite import SqliteStore
from tests.golden.texts import TEXTS

PAGE = f"<html lang=en><title>The tide</title><body><main><p>{TEXTS['en']}</main>"
OTHER = f"<p>{TEXTS['de']}"
CONFIG = Config(scheme="web?shingle_size=3", item_fields=(("name", 1),), scope="host", store="./seen")

Again = Callable[[Any], Any]
#: Every protocol, and both sorts of copies.
ways: pytest.MarkDecorator = pytest.mark.parametrize(
    "again",
    [
        *(
            pytest.param(
                lambda value, number=number: pickle.loads(pickle.dumps(value, number)), id=f"pickle{number}"
            )
            for number in (2, pickle.HIGHEST_PROTOCOL)
        ),
        pytest.param(copy.copy, id="copy"),
        pytest.param(copy.deepcopy, id="deepcopy"),
    ],
)


# --- The fingerprinter.


@ways
def test_a_fingerprinter_reads_the_same_afterwards(again: Again) -> None:
    fingerprinter = PageFingerprinter(CONFIG)
    other = again(fingerprinter)
    assert (other.config, other.rule) == (fingerprinter.config, fingerprinter.rule)
    assert other.read(PAGE) == fingerprinter.read(PAGE)
    assert other.extract(PAGE) == fingerprinter.extract(PAGE)
    assert other.from_html(PAGE).sketch == fingerprinter.from_html(PAGE).sketch  # type: ignore[union-attr]


class Counting(PageFingerprinter):
    """Somebody's own, with more to remember and another constructor."""

    def __init__(self, name: str) -> None:
        super().__init__(CONFIG)
        self.name = name


def test_a_pickle_of_a_fingerprinter_holds_settings_and_no_tables() -> None:
    assert len(pickle.dumps(PageFingerprinter())) < 4_000


PROGRAMS = {
    "write": """
import pickle, sys
from scrapy_simhash import NearDuplicateDetector, PageFingerprinter, kernel
page = sys.stdin.read()
parts = PageFingerprinter(), NearDuplicateDetector(), PageFingerprinter().read(page), kernel.NAME
sys.stdout.buffer.write(pickle.dumps(parts))
""",
    "read": """
import pickle, sys
fingerprinter, detector, reading, written_by = pickle.loads(bytes.fromhex(sys.argv[1]))
from scrapy_simhash import kernel
page = sys.stdin.read()
assert kernel.NAME != written_by, kernel.NAME
assert fingerprinter.read(page)[:3] == reading[:3]
assert fingerprinter.from_html(page).to_bytes() == reading.fingerprint.to_bytes()
assert (fingerprinter._compiled is None) == (kernel.NAME == "pure")
assert detector.check(page, "https://example.com/").fingerprint == reading.fingerprint
""",
}


def run(program: str, wanted: str, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> bytes:
    monkeypatch.setenv(kernel.VARIABLE, wanted)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAMS[program], *arguments],
        input=PAGE.encode(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.skipif(kernel.hamming is None, reason=f"pure Python runs: {kernel.REASON}")
@pytest.mark.parametrize(("one", "other"), [("pure", "native"), ("native", "pure")])
def test_each_kernel_reads_the_pickles_of_the_other(
    one: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("read", other, monkeypatch, run("write", one, monkeypatch).hex())


POOL = """
import multiprocessing, sys
from scrapy_simhash import Config, NearDuplicateDetector, PageFingerprinter, kernel

def look(fingerprinter, config, detector, page):
    assert config == fingerprinter.config == detector.config
    verdict = detector.check(page, "https://example.com/")
    return kernel.NAME, verdict.status.value, fingerprinter.from_html(page), verdict

if __name__ == "__main__":
    config = Config(scheme="web?shingle_size=3")
    fingerprinter, detector = PageFingerprinter(config), NearDuplicateDetector(config)
    pages = [f"<p>{sys.argv[2]}", f"<p>{sys.argv[3]}", "<p>Too short."]
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        found = pool.map(fingerprinter.from_html, pages)
        seen = pool.starmap(look, [(fingerprinter, config, detector, page) for page in pages])
    assert [one and one.to_bytes() for one in found] == [
        one and one.to_bytes() for one in map(fingerprinter.from_html, pages)
    ]
    assert [one for _, _, one, _ in seen] == found
    assert [status for _, status, _, _ in seen] == ["new", "new", "skipped"]
    assert {name for name, _, _, _ in seen} == {kernel.NAME}
    print(kernel.NAME, "done")
"""


@pytest.mark.parametrize(
    ("wanted", "method"),
    [("pure", "spawn"), *(("native", method) for method in multiprocessing.get_all_start_methods())],
)
def test_all_of_it_works_in_a_pool(
    wanted: str, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if wanted == "native" and kernel.hamming is None:
        pytest.skip(f"pure Python runs: {kernel.REASON}")
    monkeypatch.setenv(kernel.VARIABLE, wanted)
    program = tmp_path / "program.py"  # the spawn method wants a file
    program.write_text(POOL, "utf-8")
    done = subprocess.run(
        [sys.executable, str(program), method, TEXTS["en"], TEXTS["de"]],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, f"{wanted} done\n"), done.stderr


# --- Settings.


@ways
def test_settings_are_the_same_afterwards(again: Again) -> None:
    assert again(CONFIG) == CONFIG
    for config in (Config(), Config(rule="classic", max_distance=4)):
        assert again(config) == config
    assert hash(again(CONFIG)) == hash(CONFIG)


@dataclass(frozen=True)
class Wider(Config):
    """Somebody's own, with a field more."""

    margin: int = 1


@ways
def test_settings_of_a_class_with_more_fields_keep_them(again: Again) -> None:
    other = again(Wider(min_shingles=4, margin=7))
    assert (type(other), other.min_shingles, other.margin) == (Wider, 4, 7)


def test_a_setting_without_effect_is_warned_of_once() -> None:
    with pytest.warns(UserWarning, match="SIMHASH_ITEM_KEY"):
        config = Config(item_key="id")
    assert pickle.loads(pickle.dumps(config)) == copy.copy(config) == config  # warnings are errors here


# --- The detector.


@ways
def test_an_empty_detector_is_empty_afterwards_and_remembers_apart(again: Again) -> None:
    detector = NearDuplicateDetector(CONFIG)
    other = again(detector)
    assert (other.config, len(other.store)) == (CONFIG, 0)
    assert other.check(PAGE, "https://example.com/a").status is Status.NEW
    assert other.check(PAGE, "https://example.com/b").status is Status.NEAR_DUPLICATE
    assert detector.check(PAGE, "https://example.com/b").status is Status.NEW


def noon() -> float:
    return 1_000.0


@ways
def test_an_empty_detector_keeps_its_clock_and_its_fingerprinter(again: Again) -> None:
    other = again(NearDuplicateDetector(CONFIG, clock=noon, fingerprinter=Counting("harbour")))
    other.check(PAGE, "https://example.com/")
    assert other.store.get(b"https://example.com/").posting.seen == 1_000
    assert other.fingerprinter.name == "harbour"


@ways
def test_a_detector_whose_scope_is_a_function_can_be_pickled(again: Again) -> None:
    other = again(NearDuplicateDetector(Config(scope="tests.crawls.scopes.by_last_letter")))
    assert other.check(PAGE, "https://example.com/a/1").status is Status.NEW


@ways
def test_a_detector_that_has_seen_pages_says_why_it_cannot(again: Again) -> None:
    detector = NearDuplicateDetector()
    detector.check(PAGE, "https://example.com/")
    detector.check(OTHER, "https://example.com/de")
    with pytest.raises(TypeError) as refused:
        again(detector)
    assert "NearDuplicateDetector that has seen pages (2) cannot be pickled or copied" in str(refused.value)
    assert "pickle its config or its fingerprinter, call read() in the other processes" in str(refused.value)


@ways
def test_a_detector_with_a_store_says_why_it_cannot(again: Again, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "pages.sqlite", header_for(CONFIG))
    try:
        with pytest.raises(
            TypeError, match=r"that was given a store \(SqliteStore\) cannot be pickled or copied"
        ):
            again(NearDuplicateDetector(CONFIG, store))
    finally:
        store.close()


# --- The index: refused, with what to do instead.


@ways
def test_an_index_says_what_to_do_instead(again: Again) -> None:
    with pytest.raises(TypeError, match="cannot be pickled or copied: add its postings to a new one"):
        again(SimhashIndex())


# --- Values.

FINGERPRINT = PageFingerprinter().from_html(PAGE)
assert FINGERPRINT is not None
VERDICT = Verdict(
    Status.REVISIT,
    FINGERPRINT,
    "https://example.com/",
    1,
    0.9,
    3,
    Reason.SMALL_CHANGE,
    5,
    True,
    True,
    2,
    ("address",),
)
VALUES: list[Any] = [
    Fingerprint(2**64 - 1, 7),
    FINGERPRINT,
    VERDICT,
    *Status,
    *Reason,
    *Action,
    *Kind,
    Match(1, 2, 3),
    Flood(Kind.TRAP, "example.com", "/day/*", 59, 1, None, ("https://example.com/",)),
    PageFingerprinter().extract(PAGE),
    PageFingerprinter().read(PAGE),
    Reading(None, None),
    SimilarityRule(9, 0.5),
    ClassicRule(2),
    Decision(Action.MARK),
    Header("web-4"),
    Posting(b"key", "https://example.com/", "", FINGERPRINT),
    Claim(None, 2, "https://example.com/", 3, 0.9, True, rank=1),
    read_hints(parse('<link rel="next" href="/2">'), "https://example.com/"),
]


@ways
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_is_equal_afterwards(again: Again, value: Any) -> None:
    other = again(value)
    assert (type(other), other, repr(other)) == (type(value), value, repr(value))


@ways
def test_what_equality_does_not_look_at_is_there_too(again: Again) -> None:
    assert FINGERPRINT is not None
    assert again(FINGERPRINT).to_bytes() == FINGERPRINT.to_bytes()
    assert again(VERDICT).fingerprint.to_bytes() == FINGERPRINT.to_bytes()
    document = PageFingerprinter().extract(PAGE)
    assert again(document).text == document.text != ""
