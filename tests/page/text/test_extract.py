from __future__ import annotations

from typing import Any

import pytest
from lxml import etree
from magazine.page import Page
from scrapy.http import HtmlResponse

from scrapy_simhash.page.text import extract, parse, plain_text
from tests.page.text.reading import MENU, read


def test_the_main_text_is_the_same_at_the_next_fetch(pages: list[Page]) -> None:
    for page in pages:
        first, again = (extract(parse(page.body(visit), page.content_type)).text for visit in (0, 1))
        # "Checked 4,455 minutes ago" looks like a fact about the product.
        assert first == again or page.kind == "product"


# --- Small pages.

PROSE = "The keeper said that it was not the lamp but the wind, and all of us were glad to hear it from him."


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("<p></p><div> </div>", ""),
        ("<script>draw()</script><div id=root></div>", ""),
        ("<frameset><frame src=a><frame src=b></frameset>", ""),
        ("just a line", "just a line"),
        (f"<p>{PROSE}</p>", PROSE),
        (f"<nav><ul>{MENU}</ul></nav><p>{PROSE}</p>", PROSE),
        (f"<nav><ul>{MENU}</ul></nav><main><p>{PROSE}</p></main><footer>Since 1962</footer>", PROSE),
        (f"<div class=cookie-banner>We keep cookies.</div><article><p>{PROSE}</p></article>", PROSE),
        # the class of the body element does not count
        (f"<body class='has-sidebar'><p>{PROSE}</p></body>", PROSE),
        (f"<div class=sidebar><p>{PROSE}</p></div>", PROSE),  # the whole page, so the name is wrong
    ],
)
def test_main_text_of_small_pages(html: str, text: str) -> None:
    assert read(html).text == text


PROSE_TWICE = f"<p>{PROSE}</p><p>{PROSE}</p>"


@pytest.mark.parametrize(
    ("html", "is_left_out"),
    [
        # A name counts if the page has more text elsewhere; so does a tag or a role.
        (f"<main>{PROSE_TWICE}</main><div class=sidebar>Since 1962</div>", True),
        (f"<main>{PROSE_TWICE}</main><aside>Since 1962</aside>", True),
        # A page of links with one sentence below them.
        (f"<ul>{MENU * 3}</ul><div class=sidebar>Since 1962 the lamp is lit</div>", False),
        (f"<ul>{MENU * 3}</ul><aside>Since 1962 the lamp is lit</aside>", True),
        (f"<ul>{MENU * 3}</ul><noscript>Since 1962 the lamp is lit</noscript>", False),
        (f"<ul>{MENU * 3}</ul><div role=contentinfo>Since 1962 the lamp is lit</div>", True),
        # Without other text no name counts.
        ("<ul><li><a href=/>Home</a></ul><footer>Since 1962 the lamp is lit every night</footer>", False),
    ],
)
def test_a_tag_counts_more_than_a_name(html: str, is_left_out: bool) -> None:
    (part,) = [part for part in read(html).paragraphs if part.text.startswith("Since 1962")]
    assert (part.boilerplate == "chrome") is is_left_out


ONE_TWO_THREE = "one two three".split()
#: A notice on each page of an archive, far longer than the entry itself.
LONG = "The harbour office keeps this book for those who were at sea, and it is not for sale. " * 30
NOTICE = (
    "<p>This manual is about a lamp that is no longer made, and you may read the one about the new lamp.</p>"
)
MANUAL = f"<main>{NOTICE}{{}}<p>By the keeper</p><ul><li>Oil<li>Wick<li>Glass</ul>{PROSE_TWICE}{{}}</main>"
RELATED = (
    "<{0} id=related><h2>Related tools</h2><p>The lamp is lit by a wick, and the wick by a match.</p></{0}>"
)
SECTIONS = f"<main><section id=intro>{f'<p>{PROSE}</p>' * 3}</section>{{}}</main>"
LISTING = f"<p>{PROSE}</p><table><tr>{{}}<td><pre>light(lamp)\nwait(night)\n</pre></td></table><p>{PROSE}</p>"
FACTS = (
    "<p>Tin cups, blue rope, cork floats, iron nails</p><p>Lamp oil, red paint, pine planks, salt fish</p>"
)
DATED = "<div>First of May</div>{}<div>Seen 12 times</div>"
BIOGRAPHY = (
    "<div class=about><p>Ada was born on the island, in the house below the lamp, and has written about the sea for"
    " as long as she can remember. She lives there with two cats and the wind, and she is at work on a book of"
    " storms.</p></div>"
)


@pytest.mark.parametrize(
    ("html", "start", "left_out"),
    [
        # A long notice does not replace the entry beside it.
        (f"<ul><li><p>{PROSE}</p></li><li>{LONG}</li></ul>", PROSE, ""),
        (f"<dl><dt>Entry</dt><dd>{PROSE}</dd><dt>Notice</dt><dd><p>{LONG}</p></dd></dl>", PROSE, ""),
        (
            f"<table><tr><td><b>X</b></td></tr><tr><td>{PROSE}</td></tr><tr><td>{LONG}</td></tr></table>",
            PROSE,
            "",
        ),
        (f"<table><tr><td>{LONG}</td></tr><tr><td><h1>X</h1><p>{PROSE}</p></td></tr></table>", PROSE, ""),
        # Some systems build pages from widgets, so this word in most names is ignored. Other names still count.
        (
            f"<div class='widget mega-menu'><ul class=menu>{MENU}</ul></div>"
            + "".join(f"<div class='block widget'><p>{PROSE} {number}</p></div>" for number in ONE_TWO_THREE)
            + "<div class='widget'><footer>Since 1962</footer></div>",
            "\n".join(f"{PROSE} {number}" for number in ONE_TWO_THREE),
            "Since 1962",
        ),
        # Text before the title is removed.
        (MANUAL.format("<h1>The lamp</h1>", ""), "The lamp\nBy the keeper\nOil", "This manual"),
        (MANUAL.format("<h2>The lamp</h2>", ""), "This manual", ""),
        # One of several headings is not the title, nor is a heading at the end.
        (MANUAL.format("<h1>The lamp</h1>", f"<h1>The wick</h1><p>{PROSE}</p>"), "This manual", ""),
        (f"<main>{NOTICE}{PROSE_TWICE}<h1>The lamp</h1><p>{PROSE}</p></main>", "This manual", ""),
        # A short post is not replaced by the biography of its author.
        (
            f"<div class=post><h2>Herrings</h2><div>May</div><p>Herrings.</p></div>{BIOGRAPHY}",
            "Herrings.",
            "",
        ),
        # Boilerplate of an article is removed, that of a short text is not.
        (DATED.format(f"<p>{PROSE}</p>" * 6), PROSE, "First of May|Seen 12 times"),
        (DATED.format(PROSE_TWICE), f"First of May\n{PROSE}\n{PROSE}\nSeen 12 times", ""),
        # Line numbers of a listing are removed.
        (LISTING.format("<td><pre>1\n2\n3</pre></td>"), f"{PROSE}\nlight(lamp)", "1 2 3"),
        (
            LISTING.format("<td><pre><span>1</span>\n<span>2</span>\n<span>3</span></pre></td>"),
            f"{PROSE}\nlight(lamp)",
            "1 2",
        ),
        (LISTING.format("<td>98<br>99<br>100</td>"), f"{PROSE}\nlight(lamp)", "98 99 100"),
        # The id of a section is not a name.
        (SECTIONS.format(RELATED.format("section")), "The lamp is lit by a wick", ""),
        (SECTIONS.format(RELATED.format("div")), PROSE, "by a wick"),
        # A heading of the first level is not a link.
        (f"<main><h1><a href=#top>The lamp</a></h1>{FACTS}</main>", "The lamp", ""),
        (f"<main><h2><a href=#top>The lamp</a></h2>{FACTS}</main>", "Tin cups", "The lamp\n"),
    ],
)
def test_main_text_without_boilerplate(html: str, start: str, left_out: str) -> None:
    text = read(html).text
    assert start in text
    if start.startswith(("The lamp\n", "This manual", "Tin cups")):
        assert text.startswith(start)
    assert [part for part in left_out.split("|") if part and part in text] == []


# --- The language.

GERMAN = "Der Wärter sagte, dass es nicht die Lampe war, sondern der Wind, und wir waren alle froh darüber."


@pytest.mark.parametrize(
    ("html", "header", "language"),
    [
        ("<html lang=xx><p>Kwyjibo", None, "xx"),
        ("<html lang=en-GB><p>Kwyjibo", "de", "en"),  # the markup has priority over the header
        ("<html xml:lang=fr><p>Kwyjibo", None, "fr"),
        ("<meta http-equiv=Content-Language content='it, en'><p>Kwyjibo", "de", "it"),
        ("<p>Kwyjibo", "pt-BR", "pt"),
        (f"<html lang=en><p>{GERMAN}", "en", "de"),  # the text is in another language
    ],
)
def test_the_language_is_declared_by_markup_or_header_and_checked_by_the_words(
    html: str, header: str | None, language: str | None
) -> None:
    assert read(html, header).language == language


# --- Product blocks: name and price of a product.


def zones(price: str) -> dict[str, str]:
    html = f"<html lang=en><main><h1>A storm lantern</h1><p>In brass</p><p>{price}</p><p>{PROSE}</p></main>"
    return {part.text: part.zone for part in read(html).paragraphs}


@pytest.mark.parametrize(
    "price",
    "£84.00|£ 84|$5|US$ 1,299.99|1.299,00 €|€5|5€|5 €|12 EUR|EUR 12|CHF 1'200.–|¥1,000|1000円|99元|10,000원|₹ 499"
    "|1 299 ₽|1 299 руб.|15,90 zł|249 kr|1 290 Kč|4 990 Ft|₺35|₩10000|R$ 20|only $5 a piece|USD 40"
    "|120 грн|5 lei".split("|"),
)
def test_a_price_makes_a_product_block(price: str) -> None:
    found = zones(price)
    assert found[" ".join(price.split())] == "offer"
    assert found["A storm lantern"] == "offer"
    assert found["In brass"] == found[PROSE] == "body"


@pytest.mark.parametrize(
    "remark",
    [
        *"2024-06-30|30.06.2024|6/30/2024|+44 20 7946 0958|(555) 123-4567|1962|84.00|No. 12|Page 3 of 12".split(
            "|"
        ),
        *"12 cm x 30 cm|4,455 minutes ago|100 %|Euro|$HOME|£|a list of 5 leisure boats|Windows 10 Kronecker".split(
            "|"
        ),
        # currency codes in the wrong case
        *"20 ft|20 FT|usd 40|12 Eur|5 LEI|1元旦".split("|"),
        # a sentence that mentions a price
        "It was sold to him for 5 €, and that was all of it.",
        # a long list of properties
        "Brass, glass, two wicks, height 31 cm, weight 2 kg, ring, hook, spare glass included, postage £5 extra",
    ],
)
def test_text_that_looks_like_a_price_is_not_a_product_block(remark: str) -> None:
    assert "offer" not in zones(remark).values()


def canonical(root: etree._Element) -> bytes:
    return etree.tostring(root, method="c14n", with_comments=True)


def test_the_tree_of_every_recording_equals_the_tree_of_the_spider(pages: list[Page]) -> None:
    differing = []
    for page in pages:
        response = HtmlResponse("http://127.0.0.1/", headers=page.headers, body=page.body())
        expected = canonical(response.selector.root)
        trees = (parse(page.body(), page.content_type), parse(response.text))
        if any(canonical(tree) != expected for tree in trees):
            differing.append(page.address.key)
    assert differing == []


def test_an_input_that_is_not_a_page_is_refused_by_name() -> None:
    thing: Any = None
    with pytest.raises(TypeError, match="html must be str, bytes or an lxml element, got NoneType"):
        parse(thing)


@pytest.mark.parametrize(
    ("language", "expected"),
    [(None, "en"), ("de", "de"), ("xx", "xx")],  # the language of the caller is not checked
)
def test_the_language_is_detected_unless_it_is_given(language: str | None, expected: str) -> None:
    text = "It was not the lamp that had gone out but the wind, and all of us were glad of it."
    assert plain_text(text, language).language == expected
