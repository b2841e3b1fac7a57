"""Interstitials: pages that stand in front of others, with a status that says that all is well. Told by structure.

A page that lets nobody in without a password or a test, or asks for consent before there is anything to read, comes
under any number of URLs, and the page behind it is another one each time. So it is compared with none.
"""

from __future__ import annotations

import re

from lxml import etree

from scrapy_simhash.page.reading import Reading
from scrapy_simhash.page.text import Document
from scrapy_simhash.page.text.main_text import DIALOG, REASONS
from scrapy_simhash.page.text.tags import Region, attributes_of, region
from scrapy_simhash.page.text.tree import AnyAncestor, elements

#: Tokens of main text from which a page says something of its own, whatever it asks for.
FEW_TOKENS = 60
#: The same of a page with a dialog: the page is behind it, not beside it. Tokens of such a dialog: a line about
#: cookies asks for nothing.
HARDLY_ANY, LEAST_ASKED = 10, 20
#: Fields of a page that are looked at.
MOST_FIELDS = 100

#: Around these, a field for a password belongs to the site and not to the page.
OF_SITE = frozenset(("aside", "dialog", "footer", "header", "nav"))

# What only a test for humans has: the box to tick, the script of the page that asks. The scripts of these services
# are on other pages too, as is a field of theirs that nobody sees.
_TEST = re.compile(
    r"(?<![\w-])(?:g-recaptcha|h-captcha|cf-turnstile|frc-captcha|smart-captcha|px-captcha|cf-challenge|challenge-form)(?![\w-])"
    r"|chl_page|cf-chl|captcha-delivery\.com|awswaf\.com|geo\.captcha|funcaptcha"
)
_TELLING = etree.XPath(
    "//script/@src | //iframe/@src | //form/@action | //form/@id | //form/@class | //div/@class | //div/@id",
    smart_strings=False,
)


def marked(reading: Reading, root: etree._Element, tokens: int, of_dialogs: int) -> Reading:
    """Return *reading*, or where the page under *root* is an interstitial that of a page that says nothing.

    *tokens* are those of its main text, *of_dialogs* those of what lies over it. O(nodes) for a page of few tokens,
    else O(1).
    """
    if tokens >= FEW_TOKENS or not is_interstitial(root, tokens, of_dialogs):
        return reading
    return Reading(None, None, may_name_canonical=reading.may_name_canonical, is_interstitial=True)


def marked_by(document: Document, reading: Reading, root: etree._Element) -> Reading:
    """Do what `marked` does for the page that *document* was made of."""
    tokens = sum(len(paragraph.tokens) for paragraph in document.main)
    dialogs = (part for part in document.paragraphs if part.boilerplate == REASONS[DIALOG])
    return marked(reading, root, tokens, sum(len(part.tokens) for part in dialogs))


def is_interstitial(root: etree._Element, tokens: int, of_dialogs: int) -> bool:
    """Tell whether a page of few *tokens* stands in front of another one: by a dialog, a password, or a test."""
    if tokens < HARDLY_ANY and of_dialogs >= LEAST_ASKED:
        return True
    return asks_for_password(root) or tests_for_humans(root)


def asks_for_password(root: etree._Element) -> bool:
    """Tell whether the page under *root* has a field for a password that is its own. O(nodes)."""
    is_of_site = AnyAncestor(_is_of_site)
    return any(
        (field.get("type") or "").lower() == "password" and not is_of_site(field.getparent())
        for field in elements(root, "input", limit=MOST_FIELDS)
    )


def _is_of_site(element: etree._Element) -> bool:
    return element.tag in OF_SITE or region(str(element.tag), attributes_of(element)) is Region.HIDDEN


def tests_for_humans(root: etree._Element) -> bool:
    """Tell whether the page under *root* has a test for humans, as the known services put it there. O(nodes)."""
    return _TEST.search("\n".join(_TELLING(root)).lower()) is not None
