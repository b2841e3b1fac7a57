"""The store in the docs, whose missing methods have defaults or raise errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.exceptions import StoreError, StoreUnavailable
from scrapy_simhash.notes import SITE, Note
from scrapy_simhash.store import Header
from tests.docs.reader import ROOT
from tests.store.cases import posting

NAMES: dict[str, Any] = {}
MODULE = ROOT / "example_project" / "own_store.py"
exec(compile(MODULE.read_text("utf-8"), str(MODULE), "exec"), NAMES)
PickleStore: Any = NAMES["PickleStore"]


def test_methods_that_a_store_leaves_out_have_their_documented_defaults(tmp_path: Path) -> None:
    store = PickleStore(Header(), tmp_path / "pages.pickle")
    store.claim(posting("a", 5))
    with pytest.raises(StoreUnavailable, match="cannot compare a page without storing it"):
        store.look(posting("b", 5))
    with pytest.raises(StoreError, match="cannot remove pages"):
        store.remove(b"a")
    assert store.replace_notes(SITE, [Note("a.example", None, b"x")]) == [1]
    assert (store.note(SITE, "a.example"), list(store.notes(SITE)), store.runs()) == ((0, None), [], [])
    assert (store.deliver({b"a": 1}), store.touch([(b"a", 1)]), store.index_size) == (None, None, 1)
    assert [page.posting.key for page in store.pages()] == [b"a"]
    store.close()
    assert len(PickleStore(Header(), tmp_path / "pages.pickle")) == 1
