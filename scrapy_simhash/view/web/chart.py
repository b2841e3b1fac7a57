"""Charts: bars in SVG without any text, so that they can be stretched; what they say in words stands around them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

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
