"""Class names and ids: a word counts if it is the head of the name."""

from __future__ import annotations

import pytest

from scrapy_simhash.page.text.tags import Region, claim_of_names
from tests.page.text.reading import read

SENTENCE = "Stir the flour into the warm milk and wait until it is as thick as you like it, step number {}."


@pytest.mark.parametrize(
    "name",
    (
        "sidebar left-sidebar sidebar-left sidebarRight sidebar2 nav main-nav site-footer menu-item"
        " footer__inner post__share share-buttons related-posts cookie-banner-box widget~widget--large"
        " footer--dark block-menu content-sidebar widget-content~widget"
        " l-nav-primary sidebar__body--no-title story~dark~sidebar"
        " has-menu~sidebar nav-1 comment-form AD"
    ).split(),
)
def test_a_name_whose_head_is_a_boilerplate_word_is_boilerplate(name: str) -> None:
    assert claim_of_names(name.replace("~", " ")).region is Region.LIKELY_CHROME


@pytest.mark.parametrize(
    "name",
    (
        "sidebar-layout SidebarLayout_main__9zcX5 layout--sidebar page--has-footer nav-content"
        " not-sidebar no-sidebar without-nav withSidebar content--with-menu__story has-comments"
        " date-line-up share-price-history menu-of-the-week cookie-recipe steps__k3NAV a1ad text_7Nav"
        " recipe-by-ad story promotion-rules-page grid__content~content-desktop-sidebar main-content~has-left-nav"
        " method method--with-sidebar SidebarLayout_method__2xQz method-nav-content method__w4NAV"
        " method-of-the-cookie-cook method--short-disclaimer"
    ).split(),
)
# A layout, an element beside the boilerplate, a word within another name, the hash of a CSS module.
def test_a_word_elsewhere_in_a_name_has_no_effect(name: str) -> None:
    assert claim_of_names(name.replace("~", " ")).region is Region.PLAIN


CONSENT = (
    "We and our partners use cookies to store what you like and to measure how many people read this page. "
)


CARDS = "".join(
    f"<div class=card><a href=/{n}>Kettle of {n} litres, black, with a whistle</a></div>" for n in range(1, 9)
)
BOX = f"<h2>Your privacy</h2>{f'<p>{CONSENT}</p>' * 9}<button>Accept</button>"
BOXES = [
    *(
        "<div role=dialog>{}</div>",
        "<div role=alertdialog>{}</div>",
        "<div class=box aria-modal=true>{}</div>",
    ),
    "<div id=onetrust-consent-sdk><div class=otPcCenter>{}</div></div>",
    "<div id=CybotCookiebotDialog>{}</div>",
    "<div id=usercentrics-root>{}</div>",
    "<div class='didomi-popup-container x2'>{}</div>",
    "<div id=cmplz-cookiebanner-of-this-site>{}</div>",
    "<div class=cookie-banner>{}</div>",
    "<div class='gdpr-layer dark'>{}</div>",
    "<div id=cookie-notice role=region>{}</div>",
    "<aside class=cookies>{}</aside>",
    "<footer class=consent-window>{}</footer>",
    "<div style='bottom: 0; POSITION : fixed'>{}</div>",
    "<div class=cookie-message><h1>We value your privacy</h1>{}</div>",
]


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_consent_box_is_never_main_text(box: str, is_first: bool) -> None:
    boxed, page = box.format(BOX), f"<main><h1>Kettles</h1><div class=grid>{CARDS}</div></main>"
    document = read(f"<body>{boxed}{page}" if is_first else f"<body>{page}{boxed}")
    assert "cookies" not in document.text
    assert "Kettle of 8 litres" in document.text
    assert "dialog" in {part.boilerplate for part in document.paragraphs}


@pytest.mark.parametrize(
    "page",
    [
        # An article whose element or site is named after cookies, and cards of such articles.
        "<header><a href=/>The town and its bakers</a></header><div class=cookie><h1>Cookies</h1>{}</div>",
        "<h1>Shop</h1><p>Twelve words stand here, so that a page is left of it.</p><main class=consent>{}</main>",
        "<h1>Cookies of the week</h1><p>Baked on Mondays.</p>{}".replace(
            "{}", "<div class=cookie>{}</div>" * 5
        ),
        "<p style='position: fixed'>{}</p><p>Home</p>",
    ],
)
def test_text_in_an_element_with_such_a_name_is_read(page: str) -> None:
    text = f"<p>{SENTENCE.format(1)}</p>" * 9
    document = read(f"<body>{page.replace('{}', text)}")
    assert SENTENCE.format(1) in document.text
    assert "dialog" not in {part.boilerplate for part in document.paragraphs}
