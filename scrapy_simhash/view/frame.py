"""The frame of a page of HTML: its head, charts, tables, and text and URLs of strangers made safe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

from scrapy_simhash.times import written

#: What a cell with a number has.
NUMBER = ' class="n"'
#: What a page may load and run: nothing but its own style.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
#: Characters of a URL that are shown.
LONGEST_SHOWN = 300
#: What moves or turns what stands beside it, or cannot be seen: controls, marks of direction, surrogates.
_HIDDEN = re.compile(
    r"[^ -~\u00a1-\uffff\U00010000-\U0010ffff]|[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e]|"
    r"[\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\uffff]|[\U000e0000-\U000e0fff]"
)
_WEB = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)


@cache
def asset(name: str) -> str:
    """Return the text of a file beside this one."""
    return (Path(__file__).parent / name).read_text("utf-8")


def head(title: str, style: str, policy: str = POLICY, more: str = "") -> str:
    """Return a page up to its heading, which is *title*; *more* is for its head."""
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(visible(title))}</title>
{more}<style>
{asset("frame.css")}{style}</style>
</head>
<body>
<h1>{escape(visible(title))}</h1>
"""


def ascii_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield *lines* of HTML in ASCII, each with its end."""
    for line in lines:
        yield line.encode("ascii", "xmlcharrefreplace").decode("ascii") + "\n"


def visible(text: str) -> str:
    r"""Return *text* with every character that has no shape of its own as its number.

    >>> visible("a\u202eb\x00c")
    'a\\u202eb\\x00c'
    """
    return _HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def shown(text: str) -> str:
    """Return *text* as HTML, short enough to be read, whatever is in it.

    >>> shown("<b>" + "a" * 1000)[:12], len(shown("a" * 1000)) < 310
    ('&lt;b&gt;aaa', True)
    """
    if len(text) > LONGEST_SHOWN:
        text = f"{text[: LONGEST_SHOWN - 60]}...{text[-57:]}"
    return escape(visible(text))


def link(url: str, inner: str | None = None) -> str:
    """Return *url* as HTML, one that a browser can open if it is one of the web; *inner* is shown instead of it."""
    inner = shown(url) if inner is None else inner
    if not _WEB.fullmatch(url) or visible(url) != url:
        return f"<bdi>{inner}</bdi>"
    return f'<bdi><a href="{escape(url)}" rel="noreferrer nofollow">{inner}</a></bdi>'


#: The share of its place that a bar takes.
_BAR = 0.86


class Bar(NamedTuple):
    """A bar of a chart, made of parts that stand on each other."""

    place: float
    """Where it stands, counted in bars from the left."""
    parts: Sequence[tuple[str, int]]
    """Class and count of each, from the ground up."""
    told: str
    """What it says, for whoever points at it."""
    href: str
    """Where its examples are."""


def bars(given: Sequence[Bar], places: int, label: str) -> str:
    """Return a chart of *given* bars in *places* of equal width, as high as the highest bar."""
    most = max(sum(count for _, count in bar.parts) for bar in given)
    return (
        f'<svg class="bars" viewBox="0 0 {places} 100" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(label)}">{"".join(_bar(bar, most) for bar in given)}</svg>'
    )


def _bar(bar: Bar, most: int) -> str:
    top, parts = 100.0, []
    for name, count in bar.parts:
        if not count:
            continue
        # What is there can be seen.
        height = max(count * 100 / most, 0.7)
        top -= height
        left = bar.place + (1 - _BAR) / 2
        parts.append(
            f'<rect class="{name}" x="{left:.2f}" y="{max(top, 0):.2f}" width="{_BAR}" height="{height:.2f}"/>'
        )
    # Its whole column can be pointed at.
    column = f'<rect class="column" x="{bar.place:.2f}" y="0" width="1" height="100"/>'
    told = f"<title>{escape(bar.told)}</title>"
    return f'<a href="#{bar.href}" tabindex="-1">{told}{"".join(parts)}{column}</a>'


def steps(shares: Sequence[tuple[float, float]], places: int, label: str) -> str:
    """Return a line of *shares*, each with its place as in `bars`, from 0 at the bottom to 1 at the top."""
    points = " ".join(
        f"{x:.2f},{100 - 96 * share - 2:.1f}" for place, share in shares for x in (place, place + 1)
    )
    return (
        f'<svg class="steps" viewBox="0 0 {places} 100" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(label)}"><polyline points="{points}"/></svg>'
    )


def meter(part: int, whole: int, most: int) -> str:
    """Return a bar in a row of a table: *whole* of at most *most*, of which *part* repeats another page."""
    if not most:
        return ""
    wide, dark = whole * 100 / most, part * 100 / most
    return (
        '<svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="new" width="{wide:.1f}" height="8"/>'
        f'<rect class="repeats" width="{dark:.1f}" height="8"/></svg>'
    )


def moment(seconds: int) -> str:
    """Return a time as people read it.

    >>> moment(1_790_000_000)
    '2026-09-21 14:13:20'
    """
    return str(written(seconds)).replace("T", " ").removesuffix("Z")


def counted(count: int, name: str) -> str:
    """Return *count* with the *name* of what is counted.

    >>> counted(1, "host"), counted(1200, "page")
    ('1 host', '1,200 pages')
    """
    return f"{count:,} {name}" if count == 1 else f"{count:,} {name}s"


def legend(*entries: tuple[str, str]) -> str:
    """Return what each class of a chart's parts means."""
    told = "".join(f'<li><span class="key {name}"></span>{text}</li>' for name, text in entries)
    return f'<ul class="legend">{told}</ul>'


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str | int]],
    ids: str | Iterable[str] = "",
    shows: int | None = None,
) -> Iterator[str]:
    """Yield a table of *rows* of cells, each with one of *ids*, or with that word and its number, or none.

    Beyond the first *shows* rows they are folded.
    """
    given = list(rows)
    words = [f"{ids}{number}" if ids else "" for number in range(len(given))] if isinstance(ids, str) else ids
    numbered = list(zip(words, given, strict=True))
    yield from _table(heads, numbered[:shows])
    if shows is not None and len(given) > shows:
        yield from folded(f"{len(given) - shows:,} more", _table(heads, numbered[shows:]))


def folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield *lines* so that they are seen when *summary* is opened."""
    yield f"<details><summary>{summary}</summary>"
    yield from lines
    yield "</details>"


def _table(heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str | int]]]) -> Iterator[str]:
    numbers = {place for _, cells in rows for place, cell in enumerate(cells) if isinstance(cell, int)}
    named = "".join(
        f'<th scope="col"{NUMBER if place in numbers else ""}>{name}</th>' for place, name in enumerate(heads)
    )
    yield f'<div class="wide"><table><thead><tr>{named}</tr></thead><tbody>'
    for name, cells in rows:
        row = "".join(map(_cell, cells, heads))
        yield f'<tr id="{name}">{row}</tr>' if name else f"<tr>{row}</tr>"
    yield "</tbody></table></div>"


def _cell(value: str | int, head: str) -> str:
    # On a phone, where there is no head, a number says what it is.
    return f'<td{NUMBER} data-head="{head}">{value:,}</td>' if isinstance(value, int) else f"<td>{value}</td>"
