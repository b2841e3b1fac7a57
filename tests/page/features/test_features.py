from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal

import pytest

from scrapy_simhash import PageFingerprinter
from scrapy_simhash.page.features import ZONES, features, weight
from scrapy_simhash.page.features.extract import DAMPING, UNIT, WORD
from scrapy_simhash.page.structured import structured
from scrapy_simhash.page.text import extract, parse, plain_text

Read = Callable[[str], int | None]


def test_a_repeated_shingle_is_one_shingle() -> None:
    document = plain_text("the sea\n\n" * 100)
    assert features(document, min_shingles=2) == {}
    assert features(document, min_shingles=1) == {
        "the sea": weight("body", 100),
        "the": weight("body", 100, is_word=True),
        "sea": weight("body", 100, is_word=True),
    }


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param(range(1, 1_001), id="up to a thousand"),
        pytest.param(range(1_001, 10_001), id="more", marks=pytest.mark.slow("exact powers take long")),
    ],
)
@pytest.mark.parametrize("is_word", [False, True])
@pytest.mark.parametrize("zone", sorted(ZONES))
def test_no_weight_is_near_a_rounding_boundary(zone: str, is_word: bool, counts: range) -> None:
    # Powers of floats may differ in the last bit between C libraries, by 1e-10 at these sizes.
    factor = UNIT * Decimal(str(ZONES[zone])) * (Decimal(str(WORD)) if is_word else 1)
    power = Decimal(str(DAMPING))
    for count in counts:
        exact = factor * Decimal(count) ** power
        assert abs(exact % 1 - Decimal("0.5")) > Decimal("1e-9"), count
        assert weight(zone, count, is_word) == round(exact)


# --- Whole pages, read by the C extension and by pure Python.


def native(page: str) -> int | None:
    return PageFingerprinter().read(page).page_hash


def pure(page: str) -> int | None:
    root = parse(page)
    return PageFingerprinter().read_document(extract(root), about=structured(root)).page_hash


@pytest.fixture(params=[native, pure])
def read(request: pytest.FixtureRequest) -> Read:
    return request.param  # type: ignore[no-any-return]


STORY = (
    "<p>The ship that went out to the sea came home with the tide, and nobody had seen the fog or the buoy. "
    "The men on the quay were not even there when it was moored, since the bell of the tower had not been heard."
)


def article(end: str = "", inside: str = "", title: str = "The ship", before: str = "") -> str:
    return (
        f"<title>{title}</title><body><nav><a href=/>Home</a></nav><div><h1>{title}</h1>{before}"
        f"{STORY}<p>{inside}{STORY[3:]}{STORY}{end}</div>"
    )


def product(**offer: str) -> str:
    kettle = {"@type": "Product", "name": "Kettle", "sku": "K-1", "offers": {"@type": "Offer", **offer}}
    return article(f'<script type="application/ld+json">{json.dumps(kettle)}</script>', title="Kettle")


def microdata(availability: str) -> str:
    return article(
        '<div itemscope itemtype="https://schema.org/Product"><meta itemprop="name" content="Kettle">'
        '<span itemprop="offers" itemscope itemtype="https://schema.org/Offer">'
        f'<link itemprop="availability" href="https://schema.org/{availability}"></span></div>',
        title="Kettle",
    )


ROWS = "<table><tr><td>Ropes<td>12<tr><td>Oars<td>{}</table>"

CHANGES = [
    # A short last paragraph, which is not main text.
    (article("<p>It costs 5 euro"), article("<p>It costs 6 euro")),
    (article("<p>The tenant shall sign"), article("<p>The tenant shall not sign")),
    (article(ROWS.format(4)), article(ROWS.format(5))),
    (article("<p>★★★☆☆"), article("<p>★★★★★")),
    (article("<div>★★★☆☆</div>"), article("<div>★★★★★</div>")),
    (article("<ul><li>two eggs<li>milk</ul>"), article("<ul><li>three eggs<li>milk</ul>")),
    (article("<p>Costs 5 euro by <a href=/t>terms</a>"), article("<p>Costs 6 euro by <a href=/t>terms</a>")),
    # Lines before the text and between its paragraphs, with any content: a date, a place, a counter.
    (article(before="<p>By Jo Lund, 2,127 views"), article(before="<p>By Jo Lund, 2,128 views")),
    (
        article(before="<div class=date>On 4 May</div><p>Hall 3"),
        article(before="<div class=date>On 4 May</div><p>Hall 4"),
    ),
    (article("<dl><dt>Draught<dd>2 m</dl>"), article("<dl><dt>Draught<dd>3 m</dl>")),
    (
        article("<figure><figcaption>Moored</figcaption></figure>"),
        article("<figure><figcaption>Sunk</figcaption></figure>"),
    ),
    # The first heading, which is not main text either.
    (article().replace("<h1>The", "<h1>Our"), article()),
    # Punctuation, symbols and currencies.
    *[
        (article(inside=f"It says {one}. "), article(inside=f"It says {other}. "))
        for one, other in [
            ("-5", "5"),
            ("+1.25 %", "-1.25 %"),
            ("1.99", "1,99"),
            ("a &lt; b", "a &gt; b"),
            ("✓", "✗"),
            ("🟢", "🔴"),
            ("€ 5", "$ 5"),
            ("C++", "C"),
            ("!done", "done"),
            ("a + b", "a * b"),
            ("US", "us"),
            ("It's", "Its"),
        ]
    ],
    (article(title="C++"), article(title="C")),
    # Also if the page is too short for a fingerprint.
    ("<p>It is written in C++", "<p>It is written in C"),
    # The price and availability of a product.
    (product(price="19", priceCurrency="EUR"), product(price="21", priceCurrency="EUR")),
    (product(price="19", priceCurrency="EUR"), product(price="19", priceCurrency="USD")),
    (product(availability="https://schema.org/InStock"), product(availability="https://schema.org/SoldOut")),
    (microdata("InStock"), microdata("OutOfStock")),
]


@pytest.mark.parametrize(("former", "latter"), CHANGES)
def test_a_changed_page_is_reported(read: Read, former: str, latter: str) -> None:
    assert read(former) is not None
    assert read(former) != read(latter)


RELATED = "<aside class=related><h2>Related</h2><p>{}</aside>"

NO_CHANGES = [
    (article(" \n"), article("\t <!-- no text --><br>")),
    (article("<p>It costs 5 euro"), article("<p>It  costs\n<b>5</b> euro")),
    (f"{STORY} {STORY[3:]}", STORY + STORY),
    (article(), article().replace("Home", "Start")),
    (article() + RELATED.format("The buoy"), article() + RELATED.format("The fog: seen at last")),
    (article("<p>Made at 2024-06-30 13:47:14"), article("<p>Made at 2024-06-30 13:47:51")),
    (article("<h3>Related</h3>"), article("<h3>You may like</h3>")),
    (article("<p><a href=/1>The buoy</a>"), article("<p><a href=/2>The fog</a>")),
    (article() + "<footer>Visits: 1,234</footer>", article() + "<footer>Visits: 1,235</footer>"),
    (article() + "<footer>© 2024, 9:30</footer>", article() + "<footer>© 2025, 10:15</footer>"),
    # Attributes and forms are not visible text.
    (article("<p>See <a href=/1>terms</a> here"), article("<p>See <a href=/2>terms</a> here")),
    (article("<img src=/1.png alt=full>"), article("<img src=/2.png alt=sold>")),
    (article("<form><input value=1></form>"), article("<form><input value=2></form>")),
    (article("<p title=a data-n=1>Moored"), article("<p title=b data-n=2>Moored")),
    # Only the product block counts, and only if the page is about the product.
    (product(price="19", priceValidUntil="2025-05-01"), product(price="19", priceValidUntil="2025-05-02")),
    (
        product(price="19").replace("<title>Kettle", "<title>Cup").replace("<h1>Kettle", "<h1>Cup"),
        product(price="21").replace("<title>Kettle", "<title>Cup").replace("<h1>Kettle", "<h1>Cup"),
    ),
    (product(availability="http://schema.org/InStock"), product(availability="https://schema.org/InStock")),
]


@pytest.mark.parametrize(("former", "latter"), NO_CHANGES)
def test_an_unchanged_page_is_not_reported(read: Read, former: str, latter: str) -> None:
    assert read(former) is not None
    assert read(former) == read(latter)
