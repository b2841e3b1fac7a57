from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from scrapy_simhash.page.text import parse
from scrapy_simhash.page.text.outline import Walk

PIECES = ("<ul>", "</ul>", "<li>", "<b>", "</b>", "<script>", "</script>", "<!-- -->", "<?pi?>", "words", " ")


@given(st.lists(st.sampled_from(PIECES)).map("".join), st.sets(st.integers(0, 20)))
def test_the_walk_is_that_of_lxml(html: str, skipped: set[int]) -> None:
    root = parse(html)
    theirs = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    expected = []
    for event, node in theirs:
        expected.append((event if event in ("start", "end") else "other", node))
        if event == "start" and len(expected) in skipped:
            theirs.skip_subtree()
    walk, found = Walk(root), []
    for step in walk:
        found.append(step)
        walk.skips = step[0] == "start" and len(found) in skipped
    assert found == expected
