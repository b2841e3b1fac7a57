"""Walks over a tree: their results, and one test per element."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from scrapy_simhash.page.text import parse
from scrapy_simhash.page.text.tree import AnyAncestor, Walk

PARTS = ("<div>", "</div>", "<b hidden>", "</b>", "<p>", "<!-- c -->", "<?pi?>", "words", " ")


@given(st.lists(st.sampled_from(PARTS)).map("".join))
def test_an_ancestor_is_found_as_in_a_loop_over_all_ancestors(html: str) -> None:
    tested: list[etree._Element] = []

    def is_hidden(element: etree._Element) -> bool:
        tested.append(element)
        return element.get("hidden") is not None

    has_hidden = AnyAncestor(is_hidden)
    root = parse(html)
    for element in root.iter("*"):
        expected = any(one.get("hidden") is not None for one in (element, *element.iterancestors()))
        assert has_hidden(element) == expected
    assert len(tested) == len(set(tested))
    assert not has_hidden(None)


PIECES = ("<ul>", "</ul>", "<li>", "<b>", "</b>", "<script>", "</script>", "<!-- -->", "<?pi?>", "words", " ")


@given(st.lists(st.sampled_from(PIECES)).map("".join), st.sets(st.integers(0, 20)))
def test_the_walk_equals_that_of_lxml(html: str, skipped: set[int]) -> None:
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
