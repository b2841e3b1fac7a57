"""Small pages for these tests."""

from __future__ import annotations

from collections.abc import Iterable

PROSE = (
    "<p>The ferry went out in the fog and came home at noon, and nobody on the quay could say who had steered it."
    " The pilot said that it had been the tide, which knows the way, and that he had only held the lamp.</p>"
)
MENU = "<nav><ul>" + "".join(f'<li><a href="/menu/{n}">Menu {n}</a></li>' for n in range(20)) + "</ul></nav>"
FOOTER = "<footer>" + "".join(f'<p><a href="/foot/{n}">Footer {n}</a></p>' for n in range(20)) + "</footer>"


def page(main: str, head: str = "") -> str:
    """Return a whole page with menu and footer around *main*."""
    return (
        f"<html><head><title>Lamp</title>{head}</head><body>{MENU}<main>{main}</main>{FOOTER}</body></html>"
    )


def lines(count: int, first: int = 1) -> str:
    """Return a list of *count* links."""
    return (
        "<ul>"
        + "".join(f'<li><a href="/{n}">Story number {n}</a></li>' for n in range(first, first + count))
        + "</ul>"
    )


def cards(numbers: Iterable[int], teaser: str = PROSE) -> str:
    """Return a heading with a link and a teaser for each of *numbers*."""
    return "".join(
        f'<article><header><h2><a href="/{n}">Story {n}</a></h2></header>{teaser}</article>' for n in numbers
    )
