"""The compiled reader: threads, memory and errors."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from magazine.page import Page

from fuzz.compare import bits
from scrapy_simhash import Config, PageFingerprinter, kernel
from scrapy_simhash.page.compiled import CompiledReader, FoldSettings
from scrapy_simhash.page.compiled import reader as reader_module
from scrapy_simhash.page.compiled.definition import definition
from scrapy_simhash.page.text import extract, parse

SETTINGS = FoldSettings(min_shingles=1, with_sketch=True, with_paragraphs=True)
STATM = Path("/proc/self/statm")
SENTENCE = (
    "The ship that went out to the sea came home with the tide, and nobody had seen the fog or the buoy. "
)


def test_four_threads_read_the_same_as_one(pages: list[Page]) -> None:
    page = PageFingerprinter(Config(min_shingles=1))
    # Other threads run while a large page is read.
    bodies = [item.body() for item in pages[:60]] + [item.body() * 40 for item in pages[:12]]

    def read(body: bytes) -> tuple[str, int | None, str]:
        root = parse(body)
        reading = page.read(root)
        return bits(reading.fingerprint), reading.page_hash, repr(page.extract(root).title_key)

    alone = list(map(read, bodies))
    with ThreadPoolExecutor(4) as threads:
        for _ in range(3):
            assert list(threads.map(read, bodies)) == alone


# --- Memory.


@pytest.mark.skipif(not STATM.exists(), reason="there is no /proc")
@pytest.mark.parametrize("what", ["page", "text", "document", "page that is not covered", "page that fails"])
def test_reading_a_page_repeatedly_takes_no_more_memory(
    native_reader: Callable[..., CompiledReader], what: str
) -> None:
    reader = native_reader(has_price=fail) if what == "page that fails" else native_reader()
    body = (
        f"<title>T</title><h1 class='a b'>T</h1><p>\u00e9{SENTENCE}" + "<p>x\u0316\u0301y" * 3 + "<p>5 \u20ac"
    )
    root = parse(body)
    entity = etree.fromstring("<p>a&e;</p>", etree.XMLParser(resolve_entities=False, recover=True))

    def once() -> None:
        if what == "text":
            read_text(reader, body)
        elif what == "document":
            reader.document(root, "en")
        elif what == "page that fails":
            with pytest.raises(ZeroDivisionError):
                reader.read(root, "en", SETTINGS)
        else:
            reader.read(entity if "not" in what else root, "en", SETTINGS)

    for _ in range(1_000):
        once()
    gc.collect()
    before = resident()
    for _ in range(5_000):
        once()
    gc.collect()
    # A leak of 64 bytes per page would exceed this; allocators keep less.
    assert resident() - before < 5_000 * 64


def resident() -> int:
    """Return the resident memory in bytes, on systems with memory pages of 4096 bytes."""
    return int(STATM.read_text("ascii").split()[1]) * 4096


# --- Errors of callbacks.


def fail(*arguments: object) -> Any:
    raise ZeroDivisionError("in a callback")


@pytest.fixture
def native_reader(monkeypatch: pytest.MonkeyPatch) -> Callable[..., CompiledReader]:
    def make(**answers: object) -> CompiledReader:
        rules = definition()
        for name, answer in answers.items():
            assert hasattr(rules, name)
            setattr(rules, name, answer)
        monkeypatch.setattr(reader_module, "definition", lambda: rules)
        assert kernel.native is not None
        return CompiledReader(kernel.native)

    return make


def read_text(reader: CompiledReader, text: str) -> Any:
    return reader.read_text(text, None, SETTINGS)


#: A page that needs the callback.
PAGES = {
    "normalize": f"<p>a\u0316\u0301b {SENTENCE}",
    "has_price": "<p>12 \u20ac<p>one two three",
    "character": "<p>\u1e9e \u1f50 one two three",
}


@pytest.mark.parametrize("callback", sorted(PAGES))
def test_an_error_in_a_callback_is_raised_and_the_reader_continues(
    native_reader: Callable[..., CompiledReader], callback: str
) -> None:
    fails = [True]
    answer = getattr(definition(), callback)
    reader = native_reader(**{callback: lambda *given: fail() if fails[0] else answer(*given)})
    root = parse(PAGES[callback])
    for _ in range(3):
        with pytest.raises(ZeroDivisionError, match="in a callback"):
            reader.read(root, None, SETTINGS)
        with pytest.raises(ZeroDivisionError, match="in a callback"):
            reader.document(root, None)
    assert reader.document(parse(f"<p>{SENTENCE}"), None) == extract(parse(f"<p>{SENTENCE}"))
    fails[0] = False
    assert reader.document(root, None) == extract(root)


@pytest.mark.parametrize(
    ("callback", "answer"),
    [
        ("normalize", None),
        ("normalize", b"bytes"),
        ("normalize", "\ud800"),
        ("character", None),
        ("character", (1 << 30, 1, 0, b"")),
        ("character", (1 << 30, 1, 0, b"12345")),
        ("character", (1 << 30, 1, 0, "a" * 4)),
        ("character", (1 << 30, 1, 0, bytes(1_024))),
        ("character", (0, 256, 0, b"")),
        ("character", (0, 1, "0", b"")),
    ],
)
def test_a_wrong_result_of_a_callback_is_an_error_and_not_a_crash(
    native_reader: Callable[..., CompiledReader], callback: str, answer: object
) -> None:
    reader = native_reader(**{callback: lambda *given: answer})
    with pytest.raises((TypeError, ValueError, AttributeError, OverflowError)):
        reader.read(parse(PAGES[callback]), None, SETTINGS)


@pytest.mark.parametrize(
    ("name", "value"),
    [("tags", {}), ("stopwords", {}), ("languages", 65), ("sentence_marks", ["."] * 33)],
)
def test_rules_beyond_the_capacity_of_the_kernel_are_refused(
    native_reader: Callable[..., CompiledReader], name: str, value: object
) -> None:
    with pytest.raises(ValueError):
        native_reader(**{name: value})


@pytest.mark.parametrize(
    ("markup", "may_ask"),
    [
        ("<input type=Password>", True),
        ("<input type=passwords>", False),
        ("<input type=text>", False),
        # The content of these elements is skipped.
        ("<template><script src=/chl_page></script></template>", True),
        ("<span hidden><iframe src=//a.captcha-delivery.com></iframe></span>", True),
        ("<button><iframe src=/film></iframe></button>", False),
    ],
)
def test_only_a_page_that_may_have_a_password_field_or_a_captcha_is_searched_for_one(
    native_reader: Callable[..., CompiledReader], markup: str, may_ask: bool
) -> None:
    found: list[bool] = []

    def marked(reading: object, *given: Any) -> object:
        found.append(given[-1])
        return reading

    native_reader(marked=marked).read(parse(f"<p>{SENTENCE}{markup}"), None, SETTINGS)
    assert found == [may_ask]
