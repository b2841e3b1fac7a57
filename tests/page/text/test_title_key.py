from __future__ import annotations

import pytest

from scrapy_simhash.page.fingerprint import OTHER_KEY, compare_keys, sketch
from scrapy_simhash.page.text import extract, parse
from scrapy_simhash.page.text.title_key import title_key


def title_key_of(html: str) -> str:
    document = extract(parse(html))
    return " ".join(title_key(document.title, document.paragraphs))


BODY = "<p>" + "The ships that went out to the sea came home with the tide and the fog. " * 5


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        # the part of the title that is also a heading; the name of the site may come first or last
        (f"<title>numpy.maximum — NumPy v1.21 Manual</title><h1>numpy.maximum</h1>{BODY}", "numpy maximum"),
        (f"<title>The Lamp | Night pilots</title><h2>Night pilots</h2>{BODY}", "night pilots"),
        (f"<title>Lamp: Night pilots</title><h1>The Lamp</h1><h2>Night pilots</h2>{BODY}", "night pilots"),
        # a heading of at least two words that is inside the title
        (f"<title>All about night pilots today</title><h1>Night pilots</h1>{BODY}", "night pilots"),
        # no heading in the title: the first of the highest headings of the main text
        (f"<title>The Lamp</title><main><h2>Tides</h2>{BODY}<h1>Fog</h1>{BODY}</main>", "fog"),
        (f"<title>Lamp</title><nav><h1>Menu</h1></nav><main><h2>Tides</h2>{BODY}</main>", "tides"),
        # no heading: the title
        (f"<title>Night pilots</title>{BODY}", "night pilots"),
        # the number of a chapter is not a title key; a year, a house number, a day and a size are
        (f"<title>4.2. Getting ready</title><h1>4.2. Getting ready</h1>{BODY}", "getting ready"),
        (f"<title>夜间引航员 - 港灯</title><h1>夜间引航员</h1>{BODY}", "夜间 间引 引航 航员"),
    ],
)
def test_the_title_key_is_the_common_part_of_title_and_headings(html: str, expected: str) -> None:
    assert title_key_of(html) == expected


def offer(name: str, *prices: str) -> str:
    terms = "".join(f"<p>{price}</p>" for price in prices)
    return f"<title>Harbour shop</title><main><h1>{name}</h1>{terms}<p>In brass</p>{BODY}</main>"


def test_variants_of_a_product_have_different_title_keys_and_copies_at_any_price_the_same() -> None:
    small, large = (extract(parse(offer(f"Jersey, {size}", "£84.00"))).title_key for size in ("S", "L"))
    dearer = extract(parse(offer("Jersey, S", "£85.00"))).title_key
    copy = extract(parse(offer("JERSEY,  S", "£84.00") + "<footer>Since 1962</footer>")).title_key
    assert copy == small == dearer
    assert compare_keys(sketch([1], small), sketch([1], large)) == OTHER_KEY
