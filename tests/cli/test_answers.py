from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.cli.find import document

hashes = st.integers(0, 2**64 - 1)


@given(st.lists(st.lists(hashes, min_size=2, max_size=2), max_size=5))
def test_a_document_is_json_with_a_value_a_line(pairs: list[list[int]]) -> None:
    text = "".join(document({"distance": 3, "hashes": 20}, "pairs", map(str, pairs)))
    assert json.loads(text) == {"distance": 3, "hashes": 20, "pairs": pairs}
    assert [json.loads(line.rstrip(",")) for line in text.splitlines()[1:-1]] == pairs
