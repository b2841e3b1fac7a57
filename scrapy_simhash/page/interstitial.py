"""Pages with hardly any text: interstitials, and the data from which a script renders a page.

Interstitials are login, consent and captcha pages with an HTTP status of 200, recognised by structure. A site may
return the same interstitial for URLs of different pages, so an interstitial is not compared.

The visible text of other such pages is often the same, such as a request to enable JavaScript. The words of their
data (JSON or attributes) distinguish them. Numbers are ignored, because ids and times change on each visit.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from scrapy_simhash.page.fingerprint.facts import STRUCTURED
from scrapy_simhash.page.fingerprint.fold import number
from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.reading import Reading
from scrapy_simhash.page.structured import NOTHING, Structured
from scrapy_simhash.page.text import Document
from scrapy_simhash.page.text.main_text import DIALOG, REASONS
from scrapy_simhash.page.text.tags import UNSEEN, Region, attributes_of, region
from scrapy_simhash.page.text.tree import AnyAncestor, elements
from scrapy_simhash.patterns import lazy_pattern

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


#: Min words of data, and max characters that are read.
MIN_WORDS, MAX_CHARACTERS = 8, 32_768
#: Max visible words, including menus, of a page whose data is read.
MAX_SHOWN = 150
#: Max elements that are read, and min characters of an attribute with data.
MAX_ELEMENTS, MIN_ATTRIBUTE = 1_000, 20
#: Label of the row. In structured data, this label belongs to article numbers.
_DATA = 0
_ATTRIBUTES = etree.XPath(
    f"descendant::*/@*[string-length() >= {MIN_ATTRIBUTE} and starts-with(name(), 'data-')]",
    smart_strings=False,
)
# JSON that is assigned to a variable, or JSON that is the whole script.
_JSON = lazy_pattern(
    r"\s*(?:(?:var|let|const)\s+)?(?:[\w$.\[\]\"']{1,80}\s*=\s*)?(?:JSON\.parse\()?[\[{\"'`]"
)


def data_of(root: etree._Element, shown: int) -> Structured:
    """Return the row for a page's data: at least `MIN_WORDS` and at least *shown* different words, else `NOTHING`.

    *shown* is the number of visible words; there is no row for more than `MAX_SHOWN`. Never raises. Takes a few
    milliseconds at most.
    """
    if shown > MAX_SHOWN:
        return NOTHING
    data = [*_in_scripts(root), *_in_attributes(root)]
    words = {word for word in tokenize(normalize(" ".join(data)[:MAX_CHARACTERS])) if word.isalpha()}
    if len(words) < max(MIN_WORDS, shown):
        return NOTHING
    return Structured((STRUCTURED | _DATA << 16 | number(" ".join(sorted(words))) >> 48,))


def _in_scripts(root: etree._Element) -> Iterator[str]:
    for element in elements(root, "script", limit=MAX_ELEMENTS):
        text = element.text or ""
        kind = (element.get("type") or "").lower()
        if not kind.endswith("ld+json") and ("json" in kind or _JSON.match(text)):
            yield text[:MAX_CHARACTERS]


def _in_attributes(root: etree._Element) -> Iterator[str]:
    found = _ATTRIBUTES(root)
    yield from map(str, found[:MAX_ELEMENTS] if isinstance(found, list) else ())
