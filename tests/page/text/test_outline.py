from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from scrapy_simhash.page.text import parse
from scrapy_simhash.page.text.outline import MAX_PATH_DEPTH, Outline, outline


def blocks(html: str) -> list[str]:
    return [block.text for block in outline(parse(html)).blocks]


def seen(page: Outline) -> str:
    return "".join("".join(block.text.split()) for block in page.blocks if not block.hidden)


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("", []),
        ("<p>one<p>two", ["one", "two"]),
        ("bare <p>one</p> tail", ["bare", "one", "tail"]),
        # inline tags do not end a word
        ("<p>un<b>believ</b>able <i>story</i>, <a href=/>she</a> said", ["unbelievable story, she said"]),
        ("<p>H<sub>2</sub>O and E = mc<sup>2</sup>", ["H2O and E = mc2"]),
        # ... unless they are adjacent, like labels and buttons
        ("<p><b>name</b><i>type</i>", ["name type"]),
        # br separates words, not blocks
        ("<p>one<br>two<br/>three", ["one two three"]),
        # unknown tags are blocks
        ("<x-card>one</x-card><x-card>two</x-card>", ["one", "two"]),
        # white space is collapsed, including no-break spaces; empty blocks are dropped
        ("<p>  a \n\t b&nbsp;c  ", ["a b c"]),
        # a code listing is one block, whatever elements its lines are in
        ("<pre>a\n    b</pre>", ["a b"]),
        ("<pre><code><div>a = 1</div><div>b = 2</div></code></pre>c", ["a = 1 b = 2", "c"]),
        ("<p> <p>&nbsp;<p><img src=x><p>x", ["x"]),
        # comments and processing instructions are neither text nor white space
        ("<p>on<!-- not this -->ly<?php not this ?> this", ["only this"]),
        ("<form><p>Words in a form count</p></form>", ["Words in a form count"]),
    ],
)
def test_text_between_two_block_tags_is_one_block(html: str, texts: list[str]) -> None:
    assert blocks(html) == texts


@pytest.mark.parametrize(
    "attribute", ["hidden", "style='visibility:hidden'", "style='display:none'", "class=hide"]
)
@pytest.mark.parametrize("tag", ["html", "body"])
def test_a_page_that_a_script_reveals_is_read(tag: str, attribute: str) -> None:
    page = "<html><body><p>The text.</p></body></html>".replace(f"<{tag}>", f"<{tag} {attribute}>")
    assert blocks(page) == ["The text."]


@pytest.mark.parametrize(
    "page",
    [
        "<html><head><title>T</title></head></html><body><p>The text.</p></body></html>",
        "<html></html><head><title>T</title></head><!-- x --><body><p>The text.</p></body></html>",
        # libxml2 opens a head for the title, and an HTML 5 tag does not close it.
        "<!DOCTYPE html><title>T</title><main><p>The text.</p></main>",
    ],
)
def test_a_page_without_a_body_tag_has_its_text(page: str) -> None:
    found = outline(parse(page))
    assert [block.text for block in found.blocks] == ["The text."]
    assert found.title == "T"


# --- Pages of any size.


def test_thousands_of_nested_tags_are_walked_and_paths_stay_short() -> None:
    root = leaf = etree.Element("html")
    for _ in range(2_000):
        leaf = etree.SubElement(leaf, "div")
    leaf.text = "deep down"
    page = outline(root)
    assert [block.text for block in page.blocks] == ["deep down"]
    assert page.blocks[0].path.count("/") == MAX_PATH_DEPTH - 1
    assert len(page.spans) == 2_001


# --- The tree belongs to the spider and is not changed.


def serialised(root: etree._Element) -> bytes:
    return etree.tostring(root.getroottree(), with_tail=True)


text = st.text("ab \n", max_size=4)
tags = st.sampled_from(
    "p div b a br script title head h1 nav main x-y {http://www.w3.org/1999/xhtml}p".split()
)
attributes = st.dictionaries(
    st.sampled_from(["class", "id", "style", "hidden", "role", "lang", "href"]),
    st.sampled_from(["", "nav", "hidden", "display:none", "main", "en"]),
    max_size=2,
)


@st.composite
def trees(draw: st.DrawFn) -> etree._Element:
    """Draw a tree: each new node is a child of any earlier element."""
    elements = [etree.Element("html")]
    for _ in range(draw(st.integers(0, 12))):
        parent = draw(st.sampled_from(elements))
        kind = draw(st.sampled_from(["element", "element", "element", "comment", "pi"]))
        node: etree._Element
        if kind == "element":
            node = etree.SubElement(parent, draw(tags), draw(attributes))
            node.text = draw(text)
            elements.append(node)
        else:
            node = etree.Comment(draw(text)) if kind == "comment" else etree.ProcessingInstruction("pi", "x")
            parent.append(node)
        node.tail = draw(text)
    return elements[0]


def naive_text(root: etree._Element) -> str:
    """Return all visible characters except white space, by recursion."""
    unseen = {"script", "title"}

    def inside(element: etree._Element) -> str:
        tag = str(element.tag).rpartition("}")[2]
        is_element = isinstance(element.tag, str)
        hidden = "hidden" in element.attrib or element.get("style") == "display:none"
        by_name = "hidden" in (element.get("class"), element.get("id")) and tag not in {"p", "h1"}
        if not is_element or tag in unseen or ((hidden or by_name) and tag not in {"html", "body"}):
            return ""
        return (element.text or "") + "".join(inside(child) + (child.tail or "") for child in element)

    return "".join(inside(root).split())


@given(trees())
def test_any_tree_yields_its_visible_characters_and_is_unchanged(root: etree._Element) -> None:
    before = serialised(root)
    page = outline(root)
    assert serialised(root) == before
    assert seen(page) == naive_text(root)
    assert all(0 <= block.link_length <= len(block.text) for block in page.blocks)
    assert all(0 <= span.start < span.stop <= len(page.blocks) for span in page.spans)
