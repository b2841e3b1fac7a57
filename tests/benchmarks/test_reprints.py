"""Reprints: an article in the template of another page, of which all else stays where it is."""

from __future__ import annotations

from benchmarks import reprints
from benchmarks.lib.pack import Doc
from scrapy_simhash.page.text import parse

STORY = [
    f"The {word} boat came out of the water on a grey morning in spring." for word in ("red", "old", "last")
]
PAGE = f"""<title>Boats - News</title><ul><li><a href="/">Home</a></ul><div><h1>Boats</h1><p>{STORY[0]}</p>
<div>Share</div><p>{STORY[1]} <b>Slowly.</b></p>tail<p>{STORY[2]}</p></div><p>More news</p>"""


def test_the_marked_text_goes_and_the_article_stands_in_its_place() -> None:
    root = parse(PAGE)
    doc = Doc("1", "https://a.example/", "made", "page", "a.example")
    assert reprints.title_of(root) == "Boats"
    template = reprints.template_of(doc, "en", root, reprints.tokens_of(" ".join(STORY)))
    assert template is not None
    article = reprints.Article("2", "b.example", "en", "Ships", ("One.", "Two."))
    texts = [text.strip() for text in reprints.reprint(article, template).itertext() if text.strip()]
    assert texts == ["Ships", "Home", "Ships", "One.", "Two.", "Share", "tail", "More news"]


def test_a_page_whose_marked_text_cannot_be_taken_out_is_no_template() -> None:
    doc = Doc("1", "https://a.example/", "made", "page", "a.example")
    gold = reprints.tokens_of(
        " ".join(STORY) + " And a long part of it that people read and that is not on the page."
    )
    assert reprints.template_of(doc, "en", parse(PAGE), gold * 2) is None
