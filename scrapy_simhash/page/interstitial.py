"""Interstitials: login, consent and captcha pages with an HTTP status of 200, recognised by structure.

A site may return the same interstitial for URLs of different pages, so an interstitial is not compared.
"""

from __future__ import annotations

from lxml import etree

from scrapy_simhash.page.data import data_of
from scrapy_simhash.page.reading import Reading
from scrapy_simhash.page.text import Document
from scrapy_simhash.page.text.main_text import DIALOG, REASONS
from scrapy_simhash.page.text.tags import UNSEEN, Region, attributes_of, region
from scrapy_simhash.page.text.tree import AnyAncestor, elements

#: Min tokens of main text of a page that is never an interstitial.
FEW_TOKENS = 60
#: A page with fewer tokens of main text than `MIN_BEHIND`, and at least `MIN_DIALOG` tokens in dialogs, is an
#: interstitial. A line about cookies has fewer than `MIN_DIALOG`.
MIN_BEHIND, MIN_DIALOG = 10, 20
#: Max fields, scripts and boxes that are read per page.
MAX_FIELDS, MAX_SCRIPTS, MAX_BOXES = 100, 1_000, 10_000

#: Elements whose content is invisible, or belongs to the site rather than to the page.
OF_SITE = UNSEEN - {"fieldset", "input", "label"} | {"aside", "footer", "header", "nav"}

# Names of captcha boxes, and scripts that only captcha pages load. Other scripts and hidden fields of captcha
# services are also on other pages.
TESTS = frozenset(
    "cf-challenge cf-turnstile challenge-form frc-captcha g-recaptcha h-captcha px-captcha smart-captcha".split()
)
_SOURCES = ("awswaf.com", "captcha-delivery.com", "cf-chl", "chl_page", "funcaptcha")


def marked(
    reading: Reading, root: etree._Element, tokens: int, of_dialogs: int, of_all: int, may_ask: bool = True
) -> Reading:
    """Return *reading*, with data added to a page of few tokens; for an interstitial, return a reading without text.

    *tokens* is the number of tokens in the main text, *of_dialogs* in dialogs over it, and *of_all* in all visible
    text. *may_ask* means that the page may contain a password field or a captcha. O(nodes) for a page of few tokens,
    else O(1).
    """
    if tokens >= FEW_TOKENS:
        return reading
    is_behind = tokens < MIN_BEHIND and of_dialogs >= MIN_DIALOG
    if not is_behind and not (may_ask and (asks_for_password(root) or tests_for_humans(root))):
        return reading if reading.page_hash is None else reading.with_structured(data_of(root, of_all))
    return Reading(None, None, may_name_canonical=reading.may_name_canonical, is_interstitial=True)


def marked_by(document: Document, reading: Reading, root: etree._Element) -> Reading:
    """Call `marked` for the page of *document*."""
    tokens = sum(len(paragraph.tokens) for paragraph in document.main)
    dialogs = (part for part in document.paragraphs if part.boilerplate == REASONS[DIALOG])
    of_all = sum(len(part.tokens) for part in document.paragraphs)
    return marked(reading, root, tokens, sum(len(part.tokens) for part in dialogs), of_all)


def asks_for_password(root: etree._Element) -> bool:
    """Return whether the page under *root* has a visible password field outside menus and footers. O(nodes)."""
    is_elsewhere = AnyAncestor(_is_elsewhere)
    return any(
        (field.get("type") or "").lower() == "password" and not is_elsewhere(field)
        for field in elements(root, "input", limit=MAX_FIELDS)
    )


def tests_for_humans(root: etree._Element) -> bool:
    """Return whether the page under *root* has a captcha of a known service. O(nodes)."""
    if any(
        source in address
        for element in elements(root, "script", "iframe", limit=MAX_SCRIPTS)
        for address in (element.get("src") or "",)
        for source in _SOURCES
    ):
        return True
    is_elsewhere = AnyAncestor(_is_elsewhere)
    return any(
        not TESTS.isdisjoint(f"{box.get('class') or ''} {box.get('id') or ''}".split())
        and not is_elsewhere(box)
        for box in elements(root, "div", "form", limit=MAX_BOXES)
    )


def _is_elsewhere(element: etree._Element) -> bool:
    """Return whether the content of an element is invisible, or belongs to the site."""
    return element.tag in OF_SITE or region(str(element.tag), attributes_of(element)) is Region.HIDDEN
