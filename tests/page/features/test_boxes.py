"""Facts in a box beside the article: pages of one template are kept, wherever the box stands."""

from __future__ import annotations

import pytest

from scrapy_simhash import NearDuplicateDetector, Reason, Status, Verdict

TOWNS = ("Kiel", "Ulm", "Bonn", "Trier", "Worms", "Fulda")
SENTENCE = (
    "The course begins with a walk along the harbour, and those who take part learn how the {} was built, what it"
    " carried and who has kept it in order since then."
)
TEXT = "".join(
    f"<p>{SENTENCE.format(thing)}</p>" for thing in ("mole", "crane", "lock", "beacon", "ferry", "quay")
)
#: Forms in which a page shows its facts, a date and a place.
FORMS = {
    "lines": "<p>Begins on {day} March 2026</p><p>{town}</p>",
    "terms": "<dl><dt>Begins</dt><dd>{day} March 2026</dd><dt>Place</dt><dd>{town}</dd></dl>",
    "table": "<table><tr><td>Begins</td><td>{day} March 2026</td></tr><tr><td>Place</td><td>{town}</td></tr></table>",
    "list": "<ul><li>{day} March 2026</li><li>{town}</li></ul>",
    "labels": "<p>Begins: {day} March 2026</p><p>Place: {town}</p>",
    "headings": "<h2>When</h2><p>{day} March 2026</p><h2>Where</h2><p>{town}</p>",
    "grid": "<div><span>Day</span><span>{day}</span></div><div><span>Place</span><span>{town}</span></div>",
    "with a link": "<p>{day} March 2026, 19:30</p><p>{town}</p><a href=/tickets>Tickets</a>",
}
PLACES = {
    "right of the text": "<div class=left><h1>Course</h1>{text}</div><div class=right>{facts}</div>",
    "in a card": "<div><div><h1>Course</h1><div>{text}</div></div><div><div class=card>{facts}</div></div></div>",
    "after the main element": "<main><h1>Course</h1>{text}</main><div class=info>{facts}</div>",
}
#: Lines directly after the text, with or without headings.
AFTER = "<main><h1>Course</h1><div>{text}</div>{facts}</main>"
LINKS = "".join(f"<li><a href=/{number}>Another course</a></li>" for number in range(5))
#: Elements in which only rows count.
ROWS = {
    "above links": f"<div><h1>Course</h1>{{text}}</div><div class=c2>{{facts}}<ul>{LINKS}</ul></div>",
    "left of the text": "<div class=box>{facts}</div><div class=text><h1>Course</h1>{text}</div>",
    "in a sidebar": "<div class=content><h1>Course</h1>{text}</div><div class=sidebar>{facts}</div>",
}

#: Lines at the title: a date, and the employer of a job.
AT_TITLE = {
    "date": "<div class=date>{day} March 2026</div><h1>Concert</h1>",
    "date in two lines": "<div><span>{day}</span><br><span>Mar</span></div><h1>Concert</h1>",
    "paragraph": "<p>{town} Foods</p><h1>Course</h1>",
    "class": '<div class="company">{town} Foods</div><h1>Course</h1>',
    "header": "<header><span>{town} Foods</span><h1>Course</h1></header>",
    "heading": "<h2>{town} Foods</h2><h1>Course</h1>",
    "logo": '<div><img src="/logo.png" alt=""><strong>{town} Foods</strong></div><h1>Course</h1>',
    "label": "<p>Employer: {town} Foods</p><h1>Course</h1>",
    "link": '<div><a href="/employers/{day}">{town} Foods</a></div><h1>Course</h1>',
    "link below": '<h1>Course</h1><div><a href="/employers/{day}">{town} Foods</a></div>',
}


def shell(main: str) -> str:
    return (
        "<html lang=en><head><title>Course | School</title></head><body>"
        "<nav><a href=/>Home</a> <a href=/a>All</a></nav>"
        f"{main}<footer><p>School, Mill Lane 5, phone 0431 555</p></footer></body></html>"
    )


def verdicts(form: str, place: str) -> list[Verdict]:
    detector = NearDuplicateDetector()
    pages = [
        shell(place.format(text=TEXT, facts=form.format(day=3 + 4 * number, town=town)))
        for number, town in enumerate(TOWNS)
    ]
    return [
        detector.check(page, f"https://school.example/{number}")
        for number, page in enumerate([*pages, pages[2]])
    ]


@pytest.mark.parametrize(
    ("form", "place"),
    [(form, place) for place in PLACES.values() for form in FORMS.values()]
    + [(form, AFTER) for form in FORMS.values()]
    + [(FORMS[form], place) for place in ROWS.values() for form in ("terms", "table", "labels")]
    + [(line, "<main>{facts}{text}</main>") for line in AT_TITLE.values()],
)
def test_a_page_is_distinguished_by_its_data_beside_the_text_and_at_the_title(form: str, place: str) -> None:
    *different, copy = verdicts(form, place)
    assert all(verdict.status is Status.NEW or verdict.contradicts for verdict in different)
    assert not any(verdict.is_exact for verdict in different)
    # The same page at another URL.
    assert copy.duplicate_of == "https://school.example/2"
    assert not copy.contradicts
    assert copy.is_exact


@pytest.mark.parametrize(
    "beside",
    [
        # Lists of other pages, the titles of the next ones, quotations of the day, and counters.
        "<div><p><a href=/{day}>Course in {town}</a></p><p>{day} March</p><p><a href=/x>All courses</a></p></div>",
        "<table><tr><td><a href=/p>Back</a></td><td>Chapter {day}</td><td>{town}</td></tr></table>",
        "<div><p>" + SENTENCE.format("{town}") + "</p><p>{town}</p></div>",
        "<div><p>Views: {day}</p><p>Updated on {day} March 2026 by {town}</p></div>",
        "<p>\N{COPYRIGHT SIGN} 20{day:02} {town}</p>",
        "<aside><h3>Related</h3><p>{town}: what was seen at last</p></aside>",
    ],
)
def test_what_is_no_data_of_the_page_does_not_distinguish_it(beside: str) -> None:
    place = "<div class=left><h1>Course</h1>{text}</div><div class=right>{facts}</div>"
    first, *others = verdicts(beside, place)
    assert first.status is Status.NEW
    assert all(verdict.status is Status.NEAR_DUPLICATE and not verdict.contradicts for verdict in others)


@pytest.mark.parametrize(
    "line",
    ["{day} comments", "Views: {day}", "Posted {day} hours ago", "Only {day} left", "Updated 2{day:03}"],
)
def test_counts_after_the_text_are_no_change(line: str) -> None:
    detector = NearDuplicateDetector()
    pages = [shell(AFTER.format(text=TEXT, facts=f"<p>{line}</p>".format(day=day))) for day in (3, 4)]
    _, verdict = (detector.check(page, "https://school.example/") for page in pages)
    assert verdict.reason is Reason.UNCHANGED


@pytest.mark.parametrize(
    "above",
    ["Version {day}.1", "You may follow this link to go to the current version of the page about {town}"],
)
def test_versions_and_long_notes_above_the_title_are_no_facts(above: str) -> None:
    _, *others = verdicts(above, "<main><p>{facts}</p><h1>Course</h1>{text}</main>")
    assert not any(verdict.contradicts for verdict in others)
