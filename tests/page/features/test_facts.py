"""The facts of small generated pages."""

from __future__ import annotations

import pytest

from scrapy_simhash.judge.second_look import AGREED, OTHER_FACTS, OTHER_NAMES, contradiction
from scrapy_simhash.page.features.extract import LONGEST_LABEL, LONGEST_VALUE
from scrapy_simhash.page.features.facts import (
    LONGEST_LINE,
    MAX_LINES,
    MIN_NUMBER,
    Facts,
    facts_bytes,
    find_facts,
)
from scrapy_simhash.page.fingerprint.facts import (
    NAME,
    NAME_IN_BOTH,
    NAME_IN_TEXT,
    NAME_IN_URL,
    TITLE,
    TITLE_IN_URL,
)
from scrapy_simhash.page.text import extract, parse

#: A sentence of 18 tokens.
SENTENCE = "The ship that went out to the sea came home with the tide and the fog over harbours. "
TITLE_OF_PAGE = "Night pilots | The Lamp"


def page(
    above: str = "", below: str = "", title: str = TITLE_OF_PAGE, h1: str = "Night pilots", text: int = 5
) -> str:
    """Return a page with *text* sentences, and the markup *above* and *below* them."""
    heading = f"<h1>{h1}</h1>" if h1 else ""
    return (
        f"<html lang=en><head><title>{title}</title></head><body><main>{heading}{above}<p>{SENTENCE * text}</p>"
        f"{below}</main></body></html>"
    )


def facts_of(html: str, url: str = "") -> Facts:
    found = find_facts(extract(parse(html)), url)
    assert found is not None
    return found


def lines(html: str, url: str = "") -> list[tuple[str, ...]]:
    return [line.words for line in facts_of(html, url).lines]


def rows(html: str) -> list[tuple[str, str]]:
    """Return label and text of each line with a label."""
    return [(line.label, line.text) for line in facts_of(html).lines if line.label]


# --- Names.


@pytest.mark.parametrize(
    ("html", "url", "names"),
    [
        # the heading, and the title beside it
        (page(), "", {"night": NAME, "pilots": NAME, "lamp": TITLE}),
        (page(title="Night pilots in Kiel"), "", {"night": NAME, "pilots": NAME, "kiel": TITLE}),
        # words that also occur in the sentences
        (page(h1="Night harbours", title=""), "", {"night": NAME, "harbours": NAME_IN_TEXT}),
        # words that also occur in the last segment of the URL, if it has half of the heading
        (
            page(h1="Night harbours", title="Night harbours Kiel Ulm"),
            "https://e.example/x/night-harbours-kiel/",
            {"night": NAME_IN_URL, "harbours": NAME_IN_BOTH, "kiel": TITLE_IN_URL, "ulm": TITLE},
        ),
        # also if an id follows it
        (
            page(h1="Night harbours", title=""),
            "https://e.example/x/night-harbours/4711",
            {"night": NAME_IN_URL, "harbours": NAME_IN_BOTH},
        ),
        # other folders, a folder with fewer of the words, and the query do not count
        (
            page(title=""),
            "https://e.example/night-pilots/print?night=pilots",
            {"night": NAME, "pilots": NAME},
        ),
        (
            page(h1="Night pilots of Kiel", title=""),
            "https://e.example/night/4711?night=pilots",
            {"night": NAME, "pilots": NAME, "kiel": NAME},
        ),
        # stopwords and chapter numbers are not names
        (page(h1="4.2. The pilots of the night", title=""), "", {"pilots": NAME, "night": NAME}),
        # without a heading, the title key
        (page(h1="", title="Night pilots"), "", {"night": NAME, "pilots": NAME}),
        (page(h1="", title="Night pilots") + "<nav><h1>Menu</h1></nav>", "", {"night": NAME, "pilots": NAME}),
    ],
)
def test_the_names_of_a_page_are_in_its_heading_and_title(html: str, url: str, names: dict[str, int]) -> None:
    assert facts_of(html, url).names == names


@pytest.mark.parametrize(
    ("html", "url"),
    [
        # the letters of its host
        (page(), "https://www.the-lamp.example/"),
        (page(), "https://THE-LAMP.example:8080/a"),
        # one of the first blocks
        (page().replace("<main>", "<header>The Lamp</header><main>"), ""),
    ],
)
def test_the_name_of_the_site_is_not_a_name_of_the_page(html: str, url: str) -> None:
    assert facts_of(html, url).names == {"night": NAME, "pilots": NAME}


def test_the_version_of_a_site_is_not_a_name_of_the_page() -> None:
    for title in ("Night pilots v1.26 manual", "Night pilots manual 13.0.0rc1"):
        assert facts_of(page(title=title)).names == {"night": NAME, "pilots": NAME, "manual": TITLE}
    # Not a date.
    assert facts_of(page(title="Night pilots 1.3.2026")).names.keys() == {"night", "pilots", "1", "3", "2026"}
    # A folder in its URL names the version, unless it is a year.
    numbered = page(title="Night pilots 16 2024 17")
    assert set(facts_of(numbered, "https://e.example/docs/16/2024/pilots").names) == {
        "night",
        "pilots",
        "2024",
        "17",
    }
    # In the heading the version is part of the name.
    assert "16" in facts_of(page(h1="Version 16 notes"), "https://e.example/docs/16/notes").names


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("Pilots in C", "Pilots in C++", False),
        ("Pilots in C", "Pilots in C#", False),
        ("Pilots in “C”", "Pilots in “C++”", False),
        ("Pilots in C#", "Pilots in C++", False),
        ("Night pilots S9+", "Night pilots S9", False),
        ("Grade A+", "Grade A", False),
        ("Pilots in C", "Pilots in C: notes", True),
        ("Night pilots", "Night pilots#", True),
        # only if the other page has the word without signs
        ("Night pilots", "F+ Night pilots", True),
    ],
)
def test_signs_after_a_word_of_the_name_distinguish_pages(one: str, other: str, is_same: bool) -> None:
    assert (contradict(page(h1=one), page(h1=other)) == OTHER_NAMES) is not is_same
    titled = page(h1="", title=f"{one} | The Lamp"), page(h1="", title=f"{other} | The Lamp")
    assert (contradict(*titled) == OTHER_NAMES) is not is_same


# --- Lines.


def test_lines_above_the_first_sentence_always_count() -> None:
    for text in (5, 12, 40):
        assert lines(page("<p>Kiel, room 7</p>", text=text)) == [("kiel", "room", "7")]
    # Also in an element with a name of boilerplate, but not in a link.
    assert lines(page('<p class="meta">Room 7</p>')) == [("room", "7")]
    assert lines(page('<p class="meta"><a href="/7">Room 7</a></p>')) == []


def test_lines_below_the_text_count_only_if_it_is_short() -> None:
    for text, line, value in ((5, True, True), (12, False, True), (40, False, False)):
        assert bool(lines(page(below="<p>Kiel, room 7</p>", text=text))) is line
        assert bool(lines(page(below="<p>Room: Kiel 7</p>", text=text))) is value
        assert bool(lines(page(below="<table><tr><th>Room<td>Kiel 7</table>", text=text))) is value


def test_in_long_texts_no_line_with_a_date_counts() -> None:
    dated = "<p>5 May 2024</p><p>Room 7</p>"
    assert lines(page(dated)) == [("5", "2024"), ("room", "7")]
    assert lines(page(dated, text=40)) == [("room", "7")]


@pytest.mark.parametrize(
    "line",
    [
        "Posted in Kiel", "By Ann Lund", "Views 7", "ID 4711", "Veröffentlicht in Kiel", "Aufrufe: 7",
        "Author: Ann Lund", "Written in the harbour on 5 May 2024",
        # a price
        "Now at $ 5.00", "Price: 5,00 €",
    ],
)  # fmt: skip
def test_rotating_lines_and_prices_are_not_facts(line: str) -> None:
    found = facts_of(page(f"<p>{line}</p><p>Room 7</p>"))
    assert line not in [one.text for one in found.lines]
    assert found.lines[-1].words == ("room", "7")


def test_numbers_in_the_url_of_a_page_are_not_facts() -> None:
    html = page("<p>Room 12345 and 98765</p><p>Room B 2024</p><p>Room 123</p>")
    url = "https://e.example/98765/rooms-12345-2024-123?id=77777"
    # Years and short numbers are facts.
    assert lines(html, url) == [("room",), ("room", "b", "2024"), ("room", "123")]
    assert MIN_NUMBER == 4
    assert lines(html, "https://e.example/?12345") == lines(html)
    assert lines(html)[0] == ("room", "12345", "98765")


def test_the_length_and_number_of_lines_are_limited() -> None:
    many = "".join(f"<p>Room {number}</p>" for number in range(MAX_LINES + 9))
    found = facts_of(page(many))
    assert [line.text for line in found.lines] == [f"Room {number}" for number in range(MAX_LINES)]
    assert f"{MAX_LINES + 8}" in found.words
    cells = [" ".join(f"w{number}x" for number in range(count)) for count in (LONGEST_LINE, LONGEST_LINE - 1)]
    assert lines(page("".join(f'<p class="meta">{cell}</p>' for cell in cells))) == [tuple(cells[1].split())]


# --- Rows.


@pytest.mark.parametrize(
    "markup",
    [
        "<dl><dt>Town</dt><dd>Kiel</dd></dl>",
        "<table><tr><th>Town</th><td>Kiel</td></tr><tr><th>Room</th><td>Blue seven</td></tr></table>",
        "<div><div>Town</div><div>Kiel</div></div><div><div>Room</div><div>7</div></div>",
        "<ul><li><b>Town:</b> Kiel</li></ul>",
    ],
)
def test_a_row_is_a_label_and_its_value(markup: str) -> None:
    html = page(markup)
    found = facts_of(html)
    value = next(line for line in found.lines if line.label)
    assert (value.label, value.words) == ("town", ("kiel",))
    # Different markup gives the same row; a different value gives a different row.
    assert found.rows[0] == facts_of(page("<p>Town: Kiel</p>")).rows[0]
    label, value_hash = facts_of(page(markup.replace("Kiel", "Ulm"))).rows[0]
    assert (label, value_hash != found.rows[0][1]) == (found.rows[0][0], True)


@pytest.mark.parametrize(
    "markup",
    [
        # three in a row, and items of a list
        "<div><div>Kiel</div><div>Ulm</div><div>Bonn</div></div>",
        "<ul><li>Kiel</li><li>Ulm</li></ul>",
        # labels and values that are too long
        f"<p>{'town ' * (LONGEST_LABEL + 1)}: Kiel</p>",
        f"<p>Town: {'kiel ' * (LONGEST_VALUE + 1)}</p>",
        # a number or a time is not a label
        "<table><tr><td>12</td><td>Kiel</td></tr></table>",
    ],
)
def test_lines_that_are_not_a_row(markup: str) -> None:
    for html in (page(markup), page(below=markup)):
        assert rows(html) == []
        assert facts_of(html).rows == ()


# --- As bytes.


def test_a_host_is_the_same_with_and_without_www_and_in_any_case() -> None:
    hosts = [
        facts_of(page(), url).host
        for url in (
            "https://e.example/1",
            "http://WWW.E.example/2?x",
            "https://e.example",
            "https://e.example#x",
        )
    ]
    assert len({*hosts}) == 1
    assert 1 <= hosts[0] <= 255
    assert facts_of(page(), "https://f.example/").host != hosts[0]
    assert (
        facts_of(page()).host == facts_of(page(), "about:blank").host == facts_of(page(), "/path").host == 0
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # days, also if one equals the hour
        ("<p>19 May 2027, 19:30", "<p>28 May 2027, 19:30"),
        ("<p>20 May 2027, 20:00", "<p>28 May 2027, 20:00"),
        # a long line with a date and without a rotating word
        ("<p>Monday, 4 May 2026, 7 pm, Old Mill, Kiel", "<p>Friday, 8 May 2026, 7 pm, Old Mill, Kiel"),
        ("<p>Day: 4 May 2026, 7 pm, hosted by Ann Lund", "<p>Day: 9 May 2026, 7 pm, hosted by Ann Lund"),
        # stopwords, or words that also occur in sentences
        ("<p>S", "<p>XL"),
        # the order of numbers
        ("<p>Result 3:1", "<p>Result 1:3"),
        # a label without a colon
        ("<p><span>Size</span> <span>S</span>", "<p><span>Size</span> <span>M</span>"),
        # the name of a person in an interview
        (f"<p>{SENTENCE}</p><h2>Anna Lund</h2>", f"<p>{SENTENCE}</p><h2>Boris Berg</h2>"),
        # an address with and without a number
        ("<p>Hall 3, Old Quay", "<p>Market Square"),
        # an address that links to a map
        ("<p><a href=/a>12 Station Road, Leeds</a>", "<p><a href=/b>7 Quay Street, Hull</a>"),
        # several facts with line breaks between them
        (
            "<p>When: Monday 4 May<br>Where: Old Mill, Kiel<br>Doors: half past seven, no seats",
            "<p>When: Monday 4 May<br>Where: New Barn, Kiel<br>Doors: half past seven, no seats",
        ),
        # symbols in rows
        ("<p>Air: -4 °C", "<p>Air: 4 °C"),
        # formulas
        (
            "<p><math><mn>3</mn><mi>x</mi><mo>=</mo><mn>9</mn></math>",
            "<p><math><mn>7</mn><mi>x</mi><mo>=</mo><mn>8</mn></math>",
        ),
        # a heading below the title, and hidden text
        ("<h2>Kiel</h2>", "<h2>Ulm</h2>"),
        ("<div hidden>Weight: 4 kg</div>", "<div hidden>Weight: 9 kg</div>"),
    ],
)
def test_short_lines_above_the_text_contradict_each_other(one: str, other: str) -> None:
    assert contradict(page(one), page(other)) == contradict(page(other), page(one)) == OTHER_FACTS
    assert contradict(page(one), page(one)) == AGREED


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # quotations, and lines with a date and views or comments
        ("<blockquote>Time flies.</blockquote>", "<blockquote>Slow down.</blockquote>"),
        ("<p>Kiel, 4 May 2026, Anna Lund, 7 comments", "<p>Kiel, 9 May 2026, Anna Lund, 8 comments"),
        ("<p>发布于 2026年5月4日", "<p>发布于 2026年6月7日"),
        # counts, how long ago the page was posted, and when it was printed
        ("<p>7 comments", "<p>41 comments"),
        ("<p>2 hours ago", "<p>3 days ago"),
        ("<p>Printed on 4 May 2026", "<p>Printed on 9 June 2026"),
        ("<p>Last modified: 4 May 2026", "<p>Last modified: 9 June 2026"),
        ("<p>Last change: 4 May 2026", "<p>Last change: 9 June 2026"),
        ("<p><a href=/a>May 4, 2026</a>", "<p><a href=/a>June 9, 2026</a>"),
        (f"<p>{SENTENCE}</p><h2>By Anna Lund</h2>", f"<p>{SENTENCE}</p><h2>By Boris Berg</h2>"),
        # one line has more words
        ("<p>4 May 2026", "<p>4 May 2026, 19:30"),
    ],
)
def test_lines_that_change_with_each_copy_do_not_contradict_each_other(one: str, other: str) -> None:
    assert contradict(page(one), page(other)) != OTHER_FACTS


def test_headings_do_not_displace_other_facts() -> None:
    sections = "".join(f"<h3>Part {number}x of{number}</h3><p>Room {number}" for number in range(MAX_LINES))
    table = "<table><tr><td>Place<td>{}</table>"
    one, other = (
        page(f"<p>{SENTENCE}</p>{sections[: sections.index('<p>Room 9')]}{table.format(town)}", text=0)
        for town in ("Kiel", "Rostock")
    )
    assert contradict(one, other) == OTHER_FACTS


def test_a_number_with_a_unit_is_not_a_repeated_number() -> None:
    (line,) = facts_of(page("<p>Run 2026 100km, 100 starters")).lines
    assert (line.words, line.repeated) == (("run", "2026", "100", "100", "sta"), frozenset())


def test_rows_of_two_blocks_after_the_text_contradict_each_other() -> None:
    row = "</article><section><div><div>Town</div><div>{}</div></div></section>"
    one, other = (page(below=row.format(town)).replace("<p>", "<article><p>", 1) for town in ("Kiel", "Ulm"))
    assert contradict(one, other) == OTHER_FACTS


def contradict(one: str, other: str) -> int:
    first, second = (facts_bytes(facts_of(html, "https://e.example/x")) for html in (one, other))
    return contradiction(first, second)
