"""Pages of links: the entries are the main text, without the lines above and below them."""

from __future__ import annotations

import pytest

from tests.page.text.reading import read

NAMES = "Kettle Lamp Rope Anchor Barrel Bucket Compass Lantern Oar Sail Tiller Winch".split()
FORMS = {
    "cards": "<div class=card><a href=/{n}>{name} of copper and brass</a></div>",
    "teasers": "<article><h2><a href=/{n}>{name} of copper</a></h2><p>A {name} in short.</p></article>",
    "whole cards linked": "<a href=/{n}><div><h3>{name} of copper</h3><p>From {n} EUR</p></div></a>",
    "people": "<li><a href=/{n}>Dr. {name} of the institute</a>, room {n}</li>",
    "names with prices": "<li><a href=/{n}><h3>{name} of copper</h3></a> <b>{n}9 EUR</b></li>",
}
AROUND = ["<main>{}</main>", "<div id=content>{}</div>", "{}", "<div class=page><section>{}</section></div>"]
ABOVE = [
    "<h1>Goods</h1>",
    "<h1>Goods</h1><p>All that you need on board, from the kettle to the lantern, chosen by people who sail.</p>",
    "<p>All that you need on board, from the kettle to the lantern, chosen by people who sail.</p>",
    "",
]
BELOW = [
    "<footer><p>Prices include the tax of the country, and we answer each letter that you write.</p></footer>",
    "<div class=bottom><p>Prices include the tax of the country, and we answer each letter that you write.</p></div>",
]
MENU = (
    "<nav><a href=/>Home</a></nav><div class=top><a href=/login>Log in here</a> <a href=/cart>Cart</a></div>"
)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize("below", BELOW)
def test_the_entries_of_a_list_are_main_text(form: str, around: str, above: str, below: str) -> None:
    entries = "".join(form.format(n=n, name=name) for n, name in enumerate(NAMES, 1))
    page = f"<html lang=en><title>Goods</title><body>{MENU}{around.format(above + entries)}{below}"
    # A single link at either end may belong to the template.
    assert [name for name in NAMES[1:] if name not in read(page).text] == []
