from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from scrapy_simhash import PageFingerprinter
from scrapy_simhash.page.features import says_something, whole_text
from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.structured import facts
from scrapy_simhash.page.text import Document, Paragraph, extract, parse
from scrapy_simhash.page.text.document import Zone

Read = Callable[[str], int | None]


def paragraph(
    text: str,
    boilerplate: str | None = None,
    path: str = "html/body/div/p",
    links: float = 0.0,
    zone: Zone = "body",
) -> Paragraph:
    return Paragraph(text, tuple(tokenize(normalize(text))), zone, path, links, 0.0, boilerplate)


def document(title: str, *parts: Paragraph) -> Document:
    return Document(title, None, (), parts)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (document("", paragraph("")), "\n"),
        (document("T"), "T\n"),
        (document("T", paragraph("Edge", "edge")), "T\n"),
        (
            document("The Loft!", paragraph("Home", "chrome"), paragraph("In C++,"), paragraph("at 12:30.")),
            "The Loft!\nIn C++, at 12:30.",
        ),
        (document("", paragraph("a"), paragraph("1 2 3", "inset"), paragraph("b", "links")), "\na"),
    ],
)  # fmt: skip
def test_the_whole_text_is_title_and_main_text_sign_for_sign(page: Document, expected: str) -> None:
    assert whole_text(page) == expected


BESIDE, WITHIN, AROUND = "html/body/div/p", "html/body/div/div/p", "html/body/p"


@pytest.mark.parametrize(
    ("edge", "is_compared"),
    [
        (paragraph("Edge", "edge", BESIDE), True),
        (paragraph("Edge", "edge", "html/body/div/div"), True),
        (paragraph("Edge", "edge", WITHIN), False),
        (paragraph("Edge", "edge", AROUND), False),
        (paragraph("Edge", "edge", "html/body/table/tr/td"), True),
        (paragraph("Edge", "edge", "html/body/ul/li"), True),
        (paragraph("Edge", "edge", BESIDE, links=0.59), True),
        (paragraph("Edge", "edge", BESIDE, links=0.6), False),
        (paragraph("Edge", "edge", "html/body/div/h2", zone="heading"), False),
        (paragraph("Doors open at 19:30", "edge", BESIDE), True),
        (paragraph("Made at 1:02:03", "edge", BESIDE), False),
        (paragraph("Made at 2024-06-30 13:47:14.", "edge", BESIDE), False),
        (paragraph("Edge", "inset", BESIDE), False),
        (paragraph("Edge", "outside", BESIDE), False),
        (paragraph("Edge", "chrome", BESIDE), False),
        (paragraph("Edge", "links", BESIDE), False),
    ],
)
def test_of_the_edges_what_may_be_the_last_paragraph_is_compared(edge: Paragraph, is_compared: bool) -> None:
    main = paragraph("Main", None, BESIDE), paragraph("text", None, "html/body/div/blockquote/p")
    assert whole_text(document("", edge, *main)) == "\nMain text"
    assert whole_text(document("", *main, edge)) == (
        "\nMain text " + edge.text if is_compared else "\nMain text"
    )


def test_of_the_edges_each_heading_of_the_first_level_is_compared() -> None:
    heading = paragraph("Edge", "edge", "html/body/h1", 1.0, "heading")
    assert whole_text(document("", heading, paragraph("Main"), heading)) == "\nEdge Main Edge"


# --- Whole pages, as the compiled kernel and pure Python read them.


def native(page: str) -> int | None:
    return PageFingerprinter().read(page).text_hash


def pure(page: str) -> int | None:
    root = parse(page)
    return PageFingerprinter().read_document(extract(root), about=facts(root)).text_hash


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
    # A short last paragraph, which is no main text.
    (article("<p>It costs 5 euro"), article("<p>It costs 6 euro")),
    (article("<p>The tenant shall sign"), article("<p>The tenant shall not sign")),
    (article(ROWS.format(4)), article(ROWS.format(5))),
    (article("<p>★★★☆☆"), article("<p>★★★★★")),
    (article("<div>★★★☆☆</div>"), article("<div>★★★★★</div>")),
    (article("<ul><li>two eggs<li>milk</ul>"), article("<ul><li>three eggs<li>milk</ul>")),
    (article("<p>Costs 5 euro by <a href=/t>terms</a>"), article("<p>Costs 6 euro by <a href=/t>terms</a>")),
    # The first heading, which is none either.
    (article().replace("<h1>The", "<h1>Our"), article()),
    # Signs, symbols and currencies, anywhere.
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
    # Also where the page is too short for a fingerprint.
    ("<p>It is written in C++", "<p>It is written in C"),
    # What a product costs, and whether there is one.
    (product(price="19", priceCurrency="EUR"), product(price="21", priceCurrency="EUR")),
    (product(price="19", priceCurrency="EUR"), product(price="19", priceCurrency="USD")),
    (product(availability="https://schema.org/InStock"), product(availability="https://schema.org/SoldOut")),
    (microdata("InStock"), microdata("OutOfStock")),
]


@pytest.mark.parametrize(("former", "latter"), CHANGES)
def test_a_page_has_changed(read: Read, former: str, latter: str) -> None:
    assert read(former) is not None
    assert read(former) != read(latter)


RELATED = "<aside class=related><h2>Related</h2><p>{}</aside>"

NO_CHANGES = [
    (article(" \n"), article("\t <!-- no text --><br>")),
    (article("<p>It costs 5 euro"), article("<p>It  costs\n<b>5</b> euro")),
    (f"{STORY} {STORY[3:]}", STORY + STORY),
    (article(), article().replace("Home", "Start")),
    (article() + RELATED.format("The buoy"), article() + RELATED.format("The fog: seen at last")),
    (article(before="<p>By Jo Lund, 2,127 views"), article(before="<p>By Jo Lund, 2,128 views")),
    (article("<p>Made at 2024-06-30 13:47:14"), article("<p>Made at 2024-06-30 13:47:51")),
    (article("<h3>Related</h3>"), article("<h3>You may like</h3>")),
    (article("<p><a href=/1>The buoy</a>"), article("<p><a href=/2>The fog</a>")),
    (article() + "<footer>Visits: 1,234</footer>", article() + "<footer>Visits: 1,235</footer>"),
    (article() + "<footer>© 2024, 9:30</footer>", article() + "<footer>© 2025, 10:15</footer>"),
    # Nobody reads attributes and forms.
    (article("<p>See <a href=/1>terms</a> here"), article("<p>See <a href=/2>terms</a> here")),
    (article("<img src=/1.png alt=full>"), article("<img src=/2.png alt=sold>")),
    (article("<form><input value=1></form>"), article("<form><input value=2></form>")),
    (article("<p title=a data-n=1>Moored"), article("<p title=b data-n=2>Moored")),
    # Of a product only what is for sale counts, and only of one that the page is about.
    (product(price="19", priceValidUntil="2025-05-01"), product(price="19", priceValidUntil="2025-05-02")),
    (
        product(price="19").replace("<title>Kettle", "<title>Cup").replace("<h1>Kettle", "<h1>Cup"),
        product(price="21").replace("<title>Kettle", "<title>Cup").replace("<h1>Kettle", "<h1>Cup"),
    ),
    (product(availability="http://schema.org/InStock"), product(availability="https://schema.org/InStock")),
]


@pytest.mark.parametrize(("former", "latter"), NO_CHANGES)
def test_a_page_is_unchanged(read: Read, former: str, latter: str) -> None:
    assert read(former) is not None
    assert read(former) == read(latter)


@pytest.mark.parametrize(
    ("parts", "answer"),
    [((), False), (("Two words",), False), (("Home of three",), False), (("Two words", "and one"), True)],
)
def test_three_words_of_main_text_say_something(parts: tuple[str, ...], answer: bool) -> None:
    found = (paragraph(part, "chrome" if "Home" in part else None) for part in parts)
    assert says_something(document("A title of many words", *found)) is answer
