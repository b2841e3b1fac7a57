"""Fingerprinter, settings, an empty detector and plain values can be pickled and used in other processes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from scrapy_simhash import (
    Config,
    Match,
    PageFingerprinter,
    Reason,
    SimhashIndex,
    Status,
    Verdict,
)
from scrapy_simhash.store import Header, Posting
from tests.golden.texts import TEXTS

PAGE = f"<html lang=en><title>The tide</title><body><main><p>{TEXTS['en']}</main>"
CONFIG = Config(item_fields=(("name", 1),), scope="host", store="./seen")
FINGERPRINT = PageFingerprinter().from_html(PAGE)
assert FINGERPRINT is not None
VALUES: list[Any] = [
    FINGERPRINT,
    Verdict(Status.REVISIT, FINGERPRINT, "https://example.com/", 1, 0.9, 3, Reason.SMALL_CHANGE),
    Match(1, 2, 3),
    PageFingerprinter().extract(PAGE),
    PageFingerprinter().read(PAGE),
    Header("web-4"),
    Posting(b"key", "https://example.com/", "", FINGERPRINT),
    CONFIG,
]
AGAIN: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
ways: pytest.MarkDecorator = pytest.mark.parametrize("again", AGAIN.values(), ids=AGAIN.keys())


@ways
def test_values_are_equal_after_a_round_trip(again: Callable[[Any], Any]) -> None:
    for value in VALUES:
        other = again(value)
        assert (type(other), other, repr(other)) == (type(value), value, repr(value))
    assert again(FINGERPRINT).to_bytes() == VALUES[0].to_bytes()


def test_a_fingerprinter_works_in_another_process() -> None:
    fingerprinter = PageFingerprinter(CONFIG)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = pool.submit(fingerprinter.from_html, PAGE).result()
    assert found is not None
    assert found.to_bytes() == fingerprinter.from_html(PAGE).to_bytes()  # type: ignore[union-attr]
    # Only settings, no tables.
    assert len(pickle.dumps(fingerprinter)) < 4_000


@ways
def test_the_error_of_pickling_an_index_names_the_alternative(again: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="cannot be pickled or copied: add its fingerprints to a new index"):
        again(SimhashIndex())
