"""The C extension is compared with Python before its first use, and not used if it differs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from scrapy_simhash import PageFingerprinter, kernel
from scrapy_simhash.fingerprinter import Reading, page_hash, text_hash
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.page.compiled import CompiledReader, compiled_reader
from scrapy_simhash.page.compiled import reader as check
from scrapy_simhash.page.fingerprint import Fingerprint, number
from scrapy_simhash.page.text import Document, extract, parse

READ = CompiledReader.read


@pytest.fixture(autouse=True)
def unchecked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run the check again, and restore its result afterwards."""
    monkeypatch.setattr(kernel, "native", kernel.native)
    monkeypatch.setattr(kernel, "NAME", kernel.NAME)
    monkeypatch.setattr(kernel, "REASON", kernel.REASON)
    monkeypatch.delenv(kernel.VARIABLE, raising=False)
    compiled_reader.cache_clear()
    yield
    monkeypatch.undo()
    compiled_reader.cache_clear()
    compiled_reader()


def other_document(*arguments: object) -> Document:
    return Document("", None, (), ())


def other_read(*arguments: object) -> Reading:
    return Reading(Fingerprint(1, 1), None)


def other_hash(self: CompiledReader, *arguments: Any) -> Reading | None:
    found = READ(self, *arguments)
    return found and found._replace(page_hash=1)


def fail(*arguments: object) -> None:
    raise RuntimeError("built against another lxml")


@pytest.fixture(
    params=[
        ("document", other_document),
        ("read", other_read),
        ("read", other_hash),
        ("read_text", other_read),
    ],
    ids=["document", "read", "text hash", "read_text"],
)
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CompiledReader, *request.param)


@pytest.mark.usefixtures("broken")
def test_a_kernel_that_differs_is_not_used_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert compiled_reader() is None
    assert "slowly, but correctly: it reads a page differently from pure Python (lxml " in caplog.text
    assert (kernel.native, kernel.NAME) == (None, "pure for pages, native for the index")
    assert isinstance(SimhashIndex().core, kernel.hamming.Postings), "the kernel of this name is active"  # type: ignore[union-attr]
    assert kernel.REASON.startswith("it reads a page differently")


def test_a_kernel_that_fails_is_not_used_and_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(CompiledReader, "document", fail)
    with caplog.at_level(logging.WARNING):
        assert compiled_reader() is None
    assert "built against another lxml" in caplog.text
    assert kernel.NAME == kernel.INDEX_ONLY


@pytest.mark.usefixtures("broken")
def test_a_kernel_that_differs_is_an_error_if_the_environment_forces_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(kernel.VARIABLE, "native")
    with pytest.raises(
        ImportError, match=r"SCRAPY_SIMHASH_KERNEL is native, but .* reads a page differently"
    ):
        compiled_reader()
    with pytest.raises(ImportError):
        PageFingerprinter()


@pytest.mark.usefixtures("broken")
def test_without_the_kernel_pages_are_read_in_python() -> None:
    page = PageFingerprinter()
    root = parse("<title>T</title><p>one two three")
    assert page.extract(root) == extract(root)
    text = "<p>The ship that went out to the sea came home with the tide, and nobody had seen the fog or the buoy."
    document = extract(parse(text))
    assert page.read(text) == Reading(
        page.from_document(document), page_hash(document), text_hash=text_hash(document)
    )


def test_the_stored_hash_equals_the_result_of_pure_python() -> None:
    # If the result or the page was changed on purpose, store the new number.
    assert hex(number(repr(check._read_by_python(parse(check._PAGE))))) == hex(check._EXPECTED)


def test_pure_python_does_not_read_the_page_if_the_hash_is_the_stored_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(check, "_read_by_python", fail)
    assert compiled_reader() is not None


def test_a_kernel_with_a_different_hash_is_used_if_pure_python_agrees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(check, "_EXPECTED", 1)
    assert compiled_reader() is not None
