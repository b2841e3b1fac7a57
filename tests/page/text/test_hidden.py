"""Hidden text is marked, and is main text only if there is no other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scrapy_simhash import PageFingerprinter
from scrapy_simhash.page.features import whole_text
from tests.page.text.reading import read

SHOWN = "".join(
    f"<p>Chapter {n} tells how the keeper of the lock let the barges through at night, and what he was paid for.</p>"
    for n in range(1, 9)
)
WAYS = [
    "<div role=tabpanel style='display: none'>{}</div>",
    "<div class='panel hidden'>{}</div>",
    "<details><summary>Terms</summary><div hidden>{}</div></details>",
    "<dialog open>{}</dialog>",
    "<lock-terms><template shadowrootmode=open>{}</template></lock-terms>",
    "<div hidden><nav>{}</nav><article>More of it</article></div>",
]


def page(inside: str, after: str = "") -> str:
    return f"<html lang=en><title>The lock</title><main><h1>The lock</h1>{SHOWN}{inside}</main>{after}<p>Imprint</p>"


@pytest.mark.parametrize("way", WAYS)
def test_hidden_text_changes_the_page_but_not_its_fingerprint(way: str) -> None:
    pages = [page(way.format(text)) for text in ("<p>20 kilograms</p>", "<p>20 pounds</p>", "")]
    document = read(pages[0])
    assert ("20 kilograms", "hidden") in [(part.text, part.boilerplate) for part in document.paragraphs]
    assert "kilograms" not in document.text
    before, after, without = map(PageFingerprinter().read, pages)
    assert before.page_hash != after.page_hash
    assert before.fingerprint == after.fingerprint == without.fingerprint
    assert whole_text(read(pages[1])).count("20 pounds") == 1


@pytest.mark.parametrize(
    "inside",
    [
        "<dialog>Sure?</dialog>",
        "<p>Not <span hidden>Sure?</span> this",
        "<div>in a line<div hidden>Sure?</div>of text</div>",
        "<pre>a <div hidden>Sure?</div> listing</pre>",
        "<nav>Menu <div hidden>Sure?</div></nav>",
        "<div class=sidebar>Tides <div><div hidden>Sure?</div></div></div>",
        "<div role=dialog><div hidden>Sure?</div></div>",
    ],
)
def test_other_hidden_text_is_not_read(inside: str) -> None:
    assert "Sure?" not in [part.text for part in read(page(inside)).paragraphs]


def test_text_hidden_elsewhere_is_not_part_of_the_page() -> None:
    box = "<div class=basket style='display:none'><p>No barges yet</p></div>"
    (part,) = [part for part in read(page("", after=box)).paragraphs if part.text == "No barges yet"]
    assert (part.boilerplate, part.in_article) == ("hidden", False)
    assert whole_text(read(page("", after=box))) == whole_text(read(page("")))


@pytest.mark.parametrize(
    "hide",
    [
        lambda text: f"<div id=app style='visibility:hidden'>{text}</div>",
        lambda text: f"<p>Loading, please wait</p><div hidden>{text}</div>",
        lambda text: (
            f"<app-root><template shadowrootmode=open><style>p {{}}</style>{text}</template></app-root>"
        ),
        lambda text: f"<nav><a href=/>Home</a> <a href=/b>Barges</a></nav><div hidden>{text}</div>",
    ],
)
def test_hidden_text_is_main_text_if_all_is_hidden(hide: Callable[[str], str]) -> None:
    document = read(f"<html lang=en><title>The lock</title><body>{hide(SHOWN)}")
    assert "Chapter 1 tells" in document.text
    assert PageFingerprinter().from_document(document) is not None


def test_a_little_hidden_text_is_not_the_main_text_of_a_page_of_links() -> None:
    links = "".join(f"<li><a href=/{n}>Barge number {n}</a></li>" for n in range(30))
    document = read(
        f"<body><ul>{links}</ul><div hidden><p>{'Send us your name and we call you. ' * 30}</p></div>"
    )
    assert "Barge number 7" in document.text
    assert "Send us" not in document.text
