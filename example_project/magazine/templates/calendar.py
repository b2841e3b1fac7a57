"""A month of the calendar: a grid of days, the events, and a paragraph that is the same for all months."""

import calendar
from collections.abc import Sequence

from magazine.templates import chrome
from magazine.templates.markup import Link, anchor, esc

_NOTHING = "Nothing has been announced for this month."
_NAMES = "January February March April May June July August September October November December".split()


def render(month: str, events: Sequence[tuple[int, str]], note: str, *, previous: str, following: str) -> str:
    """Return the page of *month*, such as `2024-04`; *previous* and *following* are months, empty at the ends."""
    lines = "\n".join(f"<li><b>{day}</b> {esc(words)}</li>" for day, words in events)
    links = " ".join(
        anchor(Link(month_path(to), title(to)), f' rel="{rel}"')
        for to, rel in ((previous, "prev"), (following, "next"))
        if to
    )
    main = f"""<main class="calendar">
<h1>{title(month)}</h1>
<nav class="months">{links}</nav>
{_grid(month, {day for day, _ in events})}
{f"<ul class='events'>{lines}</ul>" if events else f"<p>{_NOTHING}</p>"}
<p class="note">{esc(note)}</p>
{chrome.ad("en")}
</main>"""
    return chrome.page("en", title(month), main, crumbs=[Link("/", "Home")])


def main_text(month: str, events: Sequence[tuple[int, str]], note: str) -> str:
    """Return the main text of a month: its name, its events and the common paragraph, without the grid of days."""
    lines = [f"{day} {words}" for day, words in events] or [_NOTHING]
    return "\n".join([title(month), *lines, note])


def title(month: str) -> str:
    """Return the month in words, such as `April 2024`."""
    year, number = month.split("-")
    return f"{_NAMES[int(number) - 1]} {year}"


def month_path(month: str) -> str:
    """Return the path of a month's page."""
    return f"/calendar?month={month}"


def _grid(month: str, busy: set[int]) -> str:
    year, number = map(int, month.split("-"))
    weeks = calendar.Calendar().monthdayscalendar(year, number)
    rows = "\n".join(f"<tr>{''.join(_cell(day, day in busy) for day in week)}</tr>" for week in weeks)
    names = "".join(f"<th>{name}</th>" for name in ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"))
    return f'<table class="grid"><tr>{names}</tr>\n{rows}\n</table>'


def _cell(day: int, is_busy: bool) -> str:
    if not day:
        return "<td></td>"
    return f'<td class="busy">{day}</td>' if is_busy else f"<td>{day}</td>"
