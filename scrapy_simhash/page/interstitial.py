"""Interstitials: pages that stand in front of others, with a status that says that all is well. Told by structure.

A page that lets nobody in without a password or a test, or asks for consent before there is anything to read, comes
under any number of URLs, and the page behind it is another one each time. So it is compared with none.
"""

from __future__ import annotations

from lxml import etree

from scrapy_simhash.page.data import data_of
from scrapy_simhash.page.reading import Reading
from scrapy_simhash.page.text import Document
from scrapy_simhash.page.text.main_text import DIALOG, REASONS
from scrapy_simhash.page.text.tags import UNSEEN, Region, attributes_of, region
from scrapy_simhash.page.text.tree import AnyAncestor, elements

#: Tokens of main text from which a page says something of its own, whatever it asks for.
FEW_TOKENS = 60
#: The same of a page with a dialog: the page is behind it, not beside it. Tokens of such a dialog: a line about
#: cookies asks for nothing.
HARDLY_ANY, LEAST_ASKED = 10, 20
#: Fields, scripts and boxes of a page that are looked at.
MOST_FIELDS, MOST_SCRIPTS, MOST_BOXES = 100, 1_000, 10_000

#: What is inside of these is not seen, or belongs to the site and not to the page.
OF_SITE = UNSEEN - {"fieldset", "input", "label"} | {"aside", "footer", "header", "nav"}

# What only a test for humans has: the box to tick, the script of the page that asks. The scripts of these services
# are on other pages too, as is a field of theirs that nobody sees.
TESTS = frozenset(
    "cf-challenge cf-turnstile challenge-form frc-captcha g-recaptcha h-captcha px-captcha smart-captcha".split()
)
_SOURCES = ("awswaf.com", "captcha-delivery.com", "cf-chl", "chl_page", "funcaptcha")


def marked(
    reading: Reading, root: etree._Element, tokens: int, of_dialogs: int, of_all: int, may_ask: bool = True
) -> Reading:
    """Return *reading*, with the data of a page of few tokens; that of a page that says nothing for an interstitial.

    *tokens* are those of its main text, *of_dialogs* those of what lies over it, *of_all* all that it shows;
    *may_ask* tells whether it may ask for a password, or test for humans. O(nodes) for a page of few tokens, else
    O(1).
    """
    if tokens >= FEW_TOKENS:
        return reading
    is_behind = tokens < HARDLY_ANY and of_dialogs >= LEAST_ASKED
    if not is_behind and not (may_ask and (asks_for_password(root) or tests_for_humans(root))):
        return reading if reading.page_hash is None else reading.with_structured(data_of(root, of_all))
    return Reading(None, None, may_name_canonical=reading.may_name_canonical, is_interstitial=True)


def marked_by(document: Document, reading: Reading, root: etree._Element) -> Reading:
    """Do what `marked` does for the page that *document* was made of."""
    tokens = sum(len(paragraph.tokens) for paragraph in document.main)
    dialogs = (part for part in document.paragraphs if part.boilerplate == REASONS[DIALOG])
    of_all = sum(len(part.tokens) for part in document.paragraphs)
    return marked(reading, root, tokens, sum(len(part.tokens) for part in dialogs), of_all)


def asks_for_password(root: etree._Element) -> bool:
    """Tell whether the page under *root* has a field for a password that is its own, and is seen. O(nodes)."""
    is_elsewhere = AnyAncestor(_is_elsewhere)
    return any(
        (field.get("type") or "").lower() == "password" and not is_elsewhere(field)
        for field in elements(root, "input", limit=MOST_FIELDS)
    )


def tests_for_humans(root: etree._Element) -> bool:
    """Tell whether the page under *root* has a test for humans, as the known services put it there. O(nodes)."""
    if any(
        source in address
        for element in elements(root, "script", "iframe", limit=MOST_SCRIPTS)
        for address in (element.get("src") or "",)
        for source in _SOURCES
    ):
        return True
    is_elsewhere = AnyAncestor(_is_elsewhere)
    return any(
        not TESTS.isdisjoint(f"{box.get('class') or ''} {box.get('id') or ''}".split())
        and not is_elsewhere(box)
        for box in elements(root, "div", "form", limit=MOST_BOXES)
    )


def _is_elsewhere(element: etree._Element) -> bool:
    """Tell whether what is inside an element is not seen, or belongs to the site."""
    return element.tag in OF_SITE or region(str(element.tag), attributes_of(element)) is Region.HIDDEN
