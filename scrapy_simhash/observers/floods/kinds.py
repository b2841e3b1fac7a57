"""Kinds: what the page of a flood is, told by the page itself. Asked once a flood, so it may take its time.

The order of the questions matters: a page to sign in may well have a captcha in its form, and a consent page the
words of neither. What stands in the title or a heading is what a page is about; what stands in its text counts
only if there is little else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from scrapy_simhash.observers.url_rules.cut_url import grows
from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.text import Document
from scrapy_simhash.page.text.tags import Region, attributes_of, region
from scrapy_simhash.page.text.tree import AnyAncestor, beginning, elements, texts


class Kind(str, Enum):
    """What the page of a flood is."""

    LOGIN_WALL = "login_wall"
    """It asks for a password, or says that one has to sign in."""
    CAPTCHA = "captcha"
    """It wants to know whether its reader is human."""
    CONSENT = "consent"
    """It asks to accept cookies or terms before there is anything to read."""
    SOFT_404 = "soft_404"
    """It says that there is no such page, with a status that says that all is well."""
    EMPTY_SHELL = "empty_shell"
    """It has hardly any text; scripts would put it in."""
    TRAP = "trap"
    """Its URLs grow by themselves: numbers, dates, query parameters, a path that winds around."""
    REPEATS = "repeats"
    """Anything else."""


#: What stands before other pages: there may be some behind it, so these URLs are never stopped.
WALLS = frozenset((Kind.LOGIN_WALL, Kind.CAPTCHA, Kind.CONSENT, Kind.EMPTY_SHELL))


@dataclass(frozen=True, slots=True)
class Flood:
    """A group of URLs of a host of which the latest brought nothing new, one after another."""

    kind: Kind
    host: str
    group: str
    """What the URLs have in common, such as ``/calendar/{number}/{number}``."""
    size: int
    """How many URLs in a row brought nothing new."""
    cluster: int | None
    """Number of the cluster of the latest page, as in :class:`~scrapy_simhash.Verdict`; None for pages without text.
    """
    original: str | None
    """URL of the first page of that cluster, which may be on another host; None for pages without text."""
    urls: tuple[str, ...]
    """The first of these URLs, a few of them."""


#: Tokens of main text up to which a page says little else than what it asks for.
FEW_TOKENS = 150
#: Tokens of visible text, menus included, up to which a page with scripts is a shell.
HARDLY_ANY_TOKENS = 30

#: What is found in the sources, actions, classes and ids of those who test for humans.
_CHALLENGES = (
    *("google.com/recaptcha", "recaptcha.net/recaptcha", "g-recaptcha", "hcaptcha.com", "h-captcha"),
    *("challenges.cloudflare.com", "cf-turnstile", "cf-challenge", "cf-chl", "challenge-platform"),
    *("captcha-delivery.com", "px-captcha", "_incapsula_resource", "arkoselabs.com", "funcaptcha"),
    *("geetest", "awswaf.com", "friendlycaptcha", "frc-captcha", "smartcaptcha"),
)
_TELLING = ("action", "class", "id", "src")
#: Buttons, fields and elements for a framework that are looked at, and characters of a button: a page on which a
#: button is to be pressed has few, and one with very many must not take long.
MOST_ASKED = 100
LONGEST_BUTTON = 200
#: Elements of a page, and nodes of a button or an element for a framework, that are looked at; no page of which many
#: copies are sent has more.
MOST_ELEMENTS = 10_000
MOST_INSIDE = 200
#: Around these, a password field belongs to the site and not to the page.
_CHROME = frozenset(("aside", "dialog", "footer", "header", "nav"))
#: Ids of the elements into which the usual frameworks put a page.
_MOUNTS = frozenset(("__next", "__nuxt", "app", "app-root", "application", "root", "svelte"))


class _Signs(NamedTuple):
    """What the elements of a page tell."""

    has_password: bool
    has_challenge: bool
    has_script: bool
    has_mount: bool
    buttons: str
    """What can be pressed in the page itself, a line each."""


def kind_of(
    document: Document,
    root: Any,
    *,
    says_nothing: bool = False,
    group: str = "",
) -> Kind | None:
    """Return the kind of a page that came back again and again; None for one without text that is no shell either.

    *root* is the lxml tree that *document* was made of; it is only read. *says_nothing* says that the page is one of
    many without main text, which need not be the same page; *group* is what its URLs have in common. O(page).
    """
    signs = _signs(root)
    about = "\n".join((document.title, *_headings(document)))
    is_brief = sum(len(paragraph.tokens) for paragraph in document.main) <= FEW_TOKENS
    brief = document.text if is_brief else ""
    if says("robot", about):
        return Kind.CAPTCHA
    if is_brief and (signs.has_password or says("login", about)):
        return Kind.LOGIN_WALL
    if says("consent", about):
        return Kind.CONSENT
    if says("not_found", about):
        return Kind.SOFT_404
    if is_brief and (signs.has_challenge or says("robot", brief)):
        return Kind.CAPTCHA
    if is_brief and (says("accept", signs.buttons) or (signs.buttons and says("consent", brief))):
        return Kind.CONSENT
    if says("not_found", brief):
        return Kind.SOFT_404
    if is_brief and _is_shell(document, signs):
        return Kind.EMPTY_SHELL
    return None if says_nothing else kind_by_urls(group)


def kind_by_urls(group: str) -> Kind:
    """Return the kind of a page that is not read, of whose URLs *group* is what they have in common."""
    return Kind.TRAP if grows(group) else Kind.REPEATS


def _headings(document: Document) -> Iterator[str]:
    """Yield the headings of the main text and at its edge, and those of the page, wherever they stand."""
    for paragraph in document.paragraphs:
        is_near = paragraph.zone == "heading" and paragraph.boilerplate in (None, "edge")
        if is_near or paragraph.path.endswith("/h1"):
            yield paragraph.text


def _is_shell(document: Document, signs: _Signs) -> bool:
    visible = sum(len(paragraph.tokens) for paragraph in document.paragraphs)
    if signs.has_mount or (signs.has_script and visible <= HARDLY_ANY_TOKENS):
        return True
    return says("scripted", "\n".join(paragraph.text for paragraph in document.paragraphs))


def _signs(root: Any) -> _Signs:
    password = challenge = script = mount = False
    is_boilerplate, is_of_the_site = AnyAncestor(_is_boilerplate), AnyAncestor(_is_header_or_hidden)
    buttons = []
    asked = 0
    for element in elements(root, "*", limit=MOST_ELEMENTS):
        tag = str(element.tag).rpartition("}")[2]
        is_mount = element.get("id") in _MOUNTS
        asked += tag in ("button", "input") or is_mount
        if tag == "script":
            script = True
        elif asked > MOST_ASKED:
            pass
        elif tag == "button" and not is_boilerplate(element.getparent()):
            buttons.append(_beginning(element))
        elif tag == "input":
            kind = (element.get("type") or "").lower()
            if kind == "password":
                password = password or not is_of_the_site(element.getparent())
            elif kind in ("submit", "button") and not is_boilerplate(element.getparent()):
                buttons.append((element.get("value") or "")[:LONGEST_BUTTON])
        if not challenge:
            claims = " ".join(element.get(name) or "" for name in _TELLING).lower()
            challenge = any(name in claims for name in _CHALLENGES)
        if is_mount and not mount and asked <= MOST_ASKED:
            mount = not any(text.strip() for text in texts(element, MOST_INSIDE))
    return _Signs(password, challenge, script, mount, "\n".join(buttons))


def _beginning(element: Any) -> str:
    """Return the first `LONGEST_BUTTON` characters of the text of an element."""
    return beginning(element, MOST_INSIDE, LONGEST_BUTTON)


def _is_boilerplate(element: Any) -> bool:
    """Return whether an element claims to be boilerplate: a cookie banner is on each page of a site."""
    return region(str(element.tag), attributes_of(element)) >= Region.LIKELY_CHROME


def _is_header_or_hidden(element: Any) -> bool:
    """Return whether a login form in *element* belongs to the site; a page to sign in may have any class name."""
    return element.get("hidden") is not None or element.tag in _CHROME


# What pages say that are not worth asking for again: vocabulary only, no decisions.
#
# A language is added by adding ``phrases/<code>.txt`` (ISO 639-1): a phrase a line, below the name of its table:
#
# not_found   pages that are not there
# login       pages that let nobody in without a name
# robot       pages that want to know who reads them
# consent     pages that ask for leave before they show anything
# accept      the buttons of such pages
# scripted    pages that are nothing without their scripts
#
# A phrase is matched as whole words, whatever their case and the punctuation between them. One that ordinary pages
# use as well does not belong there.


def says(table: str, text: str) -> bool:
    """Tell whether *text* has a phrase of *table*, in whatever language.

    >>> says("not_found", "Página no encontrada"), says("not_found", "Lost and found")
    (True, False)
    """
    words = _words(text)
    return any(phrase in words for phrase in _phrases()[table])


@cache
def _phrases() -> dict[str, list[str]]:
    tables: dict[str, list[str]] = {}
    folder = files("scrapy_simhash.observers.floods") / "phrases"
    for file in (file for file in folder.iterdir() if file.name.endswith(".txt")):
        table: list[str] = []
        for line in filter(None, file.read_text("utf-8").splitlines()):
            if line.startswith("["):
                table = tables.setdefault(line.strip("[]"), [])
            else:
                table.append(_words(line))
    return tables


def _words(text: str) -> str:
    """Return the words of *text* with a space around each, so that a phrase never begins or ends inside of one."""
    return f" {' '.join(tokenize(normalize(text)))} "
