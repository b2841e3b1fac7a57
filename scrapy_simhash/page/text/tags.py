"""Vocabulary: tags, roles and class names, and the region that each indicates.

The words are names for parts of a page in HTML, WAI-ARIA and common content management systems. A word is only a
hint; the decision is made in :mod:`~scrapy_simhash.page.text.main_text`.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from lxml import etree

from scrapy_simhash.patterns import lazy_pattern

#: Invisible elements, and parts of forms.
UNSEEN = frozenset(
    "annotation annotation-xml applet area audio base button canvas datalist dialog embed fieldset frame frameset"
    " iframe input keygen label legend link map meta meter noembed noframes object optgroup option param"
    " progress script select slot source style svg template textarea title track video".split()
)

#: Exceptions, which are read if they have one of the attributes `SHOWING`: open dialogs, and text of web components.
SHOWN_BY_ATTRIBUTE = frozenset(("dialog", "template"))
SHOWING = ("open", "shadowrootmode")

#: Inline tags, with those of formulas; any other tag starts a paragraph, including unknown and custom ones.
INLINE = frozenset(
    "a abbr acronym b bdi bdo big blink br cite code data del dfn em font i img ins kbd mark nobr picture q"
    " rb rp rt rtc ruby s samp small span strike strong sub sup time tt u var wbr output"
    " math mfrac mi mn mo mover mroot mrow ms mspace msqrt mstyle msub msubsup msup mtext munder munderover"
    " semantics".split()
)

#: Tags whose class names describe only their appearance: a listing with class ``toolbar: false`` is not a toolbar.
CLASS_IGNORED = frozenset("body code h1 h2 h3 h4 h5 h6 html p pre".split())

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))

#: Tags of paragraphs; other containers may contain anything.
PARAGRAPHS = frozenset("blockquote caption dd dt li p pre summary".split())
CELLS = frozenset(("td", "th"))
#: Tags of entries of a list or a table.
ENTRIES = frozenset("caption dd dt li td th".split())


class Region(IntEnum):
    """The kind of content of an element, according to its tag or role or, less reliably, its class or id."""

    PLAIN = 0
    MAIN = 1
    HEADER = 2
    LIKELY_CHROME = 3
    CHROME = 4
    DIALOG = 5
    HIDDEN = 6


class Claim(NamedTuple):
    """The region of an element, and the word that indicates it."""

    region: Region
    word: int = 0
    """Position of a word in :data:`CHROME_NAMES`, 1 for the first; 0 for a tag, a role or another word."""


#: The claim of most elements.
PLAIN = Claim(Region.PLAIN)
_HEADER = Claim(Region.HEADER)
_HIDDEN = Claim(Region.HIDDEN)
_DIALOG = Claim(Region.DIALOG)
_FIRM = frozenset((Region.MAIN, Region.DIALOG))
_MAIN = Claim(Region.MAIN)
_LIKELY_CHROME = Claim(Region.LIKELY_CHROME)

#: Claims of schema.org properties.
_ITEMPROP = {"articleBody": _MAIN, "author": _LIKELY_CHROME}

TAG_REGION = {
    "nav": Region.CHROME,
    "menu": Region.CHROME,
    "footer": Region.CHROME,
    "aside": Region.CHROME,
    "noscript": Region.LIKELY_CHROME,  # a request to enable JavaScript, or the whole text of the page
    "header": Region.HEADER,
    "main": Region.MAIN,
    "article": Region.MAIN,
}


ROLE_REGION = {
    "alert": Region.CHROME,
    "alertdialog": Region.DIALOG,
    "banner": Region.HEADER,
    "complementary": Region.CHROME,
    "contentinfo": Region.CHROME,
    "dialog": Region.DIALOG,
    "directory": Region.CHROME,
    "doc-toc": Region.CHROME,
    "menu": Region.CHROME,
    "menubar": Region.CHROME,
    "navigation": Region.CHROME,
    "search": Region.CHROME,
    "tablist": Region.CHROME,
    "toolbar": Region.CHROME,
    "article": Region.MAIN,
    "main": Region.MAIN,
}

CHROME_WORDS = frozenset(
    "ad ads adsense advert advertisement adverts advertising articles aside attribution banner beacon bio"
    " breadcrumb breadcrumbs buttons byline"
    " comment comments commentlist consent cookie cookiebar cookies copyright date disclaimer disqus figcaption foot"
    " footer form"
    " gdpr headerlink hotlinks latest leaderboard login masthead menu menubar metabar mobilenav modal nav navbar"
    " navi navigation navlinks newsletter outbrain overlay pager pagination paginator permalink popup prevnext"
    " promo promoted promotion recirc recommend recommendation recommendations recommended related"
    " respond rss share sharebar sharing sidebar sidenav signature signin signup sitemap skip skiplink social"
    " socials sphinxsidebar sponsor sponsored subnav subscribe subscription taboola tagcloud"
    " toolbar tooltip topbar topnav trending widget widgets".split()
)
#: The words for boilerplate in a fixed order: a word is identified by its position.
CHROME_NAMES = tuple(sorted(CHROME_WORDS))
#: Words for consent boxes. All of them count as the word of :data:`CONSENT`.
CONSENT_WORDS = frozenset("consent cookie cookiebar cookies gdpr".split())
#: First words in the names of boxes of consent tools.
CONSENT_TOOLS = frozenset(
    "axeptio borlabs cky cmplz consentmanager cybot didomi iubenda klaro onetrust osano tarteaucitron termly truste"
    " usercentrics".split()
)
#: Position of the word for boxes over the page. An element with a fixed position counts as such a box.
CONSENT = CHROME_NAMES.index("consent") + 1
#: The position of each word; all words for boxes over the page have the position of ``consent``.
WORD_PLACES = {
    word: CONSENT if word in CONSENT_WORDS else place for place, word in enumerate(CHROME_NAMES, 1)
}
_CLAIMS = {word: Claim(Region.LIKELY_CHROME, place) for word, place in WORD_PLACES.items()}
_BOX = _CLAIMS["consent"]

#: Tags that count as these words. A page with only captions or a form has no other text.
TAG_WORD = {tag: WORD_PLACES[tag] for tag in ("figcaption", "form")}
#: Claims of tags.
TAG_CLAIM = {tag: Claim(region) for tag, region in TAG_REGION.items()} | {
    tag: _CLAIMS[tag] for tag in TAG_WORD
}

HEADER_WORDS = frozenset(("header", "pageheader", "siteheader", "head", "hd", "top"))
HIDDEN_WORDS = frozenset(
    ("hidden", "hide", "invisible", "sr-only", "visually-hidden", "screen-reader-text", "offscreen")
)

#: Other words that are allowed beside a header word: an element with class "header-files" describes header files.
NEUTRAL_WORDS = frozenset(
    "area bar block box c container content global inner l layout main outer page section site the top wrap"
    " wrapper".split()
)
#: Words that are allowed after a word for boilerplate: boxes, positions and parts of any kind. "menu-item" and
#: "sidebar-left" are boilerplate; "sidebar-layout" and "nav-content" are not.
PART_WORDS = frozenset(
    "area bar block blocks bottom box boxes btn button buttons card cards column component container cta dialog"
    " element entries form group header heading headline host icon icons inner item items label layer left link"
    " links list lists manager message module news notice number outer panel placeholder posts primary right root"
    " row sdk secondary section sections slot stories teaser teasers text title top unit window wrap wrapper".split()
)
#: Words that negate the next word: the element has no sidebar, or is beside a sidebar.
NEGATING_WORDS = frozenset("by has no non not with without".split())
#: Words for the main text: "grid__content sidebar-right" is the content beside a sidebar.
CONTENT_WORDS = frozenset(("article", "content", "main"))
_BESIDE_HEADER = HEADER_WORDS | NEUTRAL_WORDS
#: Attributes that may indicate the region.
REGION_ATTRIBUTES = frozenset("aria-modal class hidden id itemprop role style".split())
#: If an element has more attributes than this, only those above are read. Few elements have ten.
_MANY = 50

#: Max words of an id that names a part of the page; longer ids are made from headings.
_ID_WORDS = 2

_SPLIT = lazy_pattern(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])")
_RUN = lazy_pattern(r"[A-Za-z0-9]+")
#: Only hashes of CSS modules match: ``steps__k3NAV``.
_HASH = lazy_pattern(r"[0-9][A-Za-z]")
_HIDING_STYLE = lazy_pattern(r"display\s*:\s*none|visibility\s*:\s*hidden", re.ASCII | re.IGNORECASE)
_FIXED_STYLE = lazy_pattern(r"position\s*:\s*fixed", re.ASCII | re.IGNORECASE)


@lru_cache(maxsize=8192)
def claim_of_names(names: str) -> Claim:
    """Return the claim of a ``class`` attribute, or of a short ``id``.

    >>> claim_of_names("l-sidebarRight dark").region.name, claim_of_names("story").region.name
    ('LIKELY_CHROME', 'PLAIN')
    >>> {claim_of_names(name).region.name for name in ("no-sidebar", "sidebarLayout", "page--sidebar", "a__3nav")}
    {'PLAIN'}
    """
    tokens = names.split()
    if not HIDDEN_WORDS.isdisjoint(token.lower() for token in tokens):
        return _HIDDEN
    claim = PLAIN
    is_content = False
    for token in tokens:
        named = _claim_of_name(token)
        words = [word.lower() for word in _SPLIT.split(token) if word]
        is_content = is_content or (
            bool(words) and words[-1] in CONTENT_WORDS and _CLAIMS.keys().isdisjoint(words)
        )
        if named is not PLAIN:
            claim = named if claim.region is not Region.LIKELY_CHROME else claim
        elif claim is PLAIN and not HEADER_WORDS.isdisjoint(words) and _BESIDE_HEADER.issuperset(words):
            claim = _HEADER
    return PLAIN if is_content and claim.region is Region.LIKELY_CHROME else claim


def _claim_of_name(name: str) -> Claim:
    """Return the claim of a name, which is boilerplate if its main word is a word for boilerplate.

    The main word is the last word that is not a word for a part, such as ``inner``. In names with blocks, elements
    and modifiers (``block__element--modifier``) the block counts, else the element; modifiers describe the
    appearance.
    """
    if _first_word(name) in CONSENT_TOOLS:
        return _BOX
    for part in name.split("__"):
        claim, before = PLAIN, ""
        for run in _RUN.findall(part[: part.find("--", 1)] if "--" in part[1:] else part):
            if _HASH.search(run):
                claim, before = PLAIN, ""
                continue
            for word in _SPLIT.split(run):
                if not word:
                    continue
                word = word.lower()
                if word in _CLAIMS:
                    if before in NEGATING_WORDS:
                        claim = PLAIN
                    elif claim is PLAIN:
                        claim = _CLAIMS[word]
                elif word not in PART_WORDS:
                    claim = PLAIN
                before = word
        if claim is not PLAIN:
            return claim
    return PLAIN


def attributes_of(element: etree._Element) -> list[tuple[str, str]]:
    """Return the attributes of an element in order; if it has very many, only those in `REGION_ATTRIBUTES`.

    O(attributes), while ``items()`` is quadratic.
    """
    if len(element.attrib) <= _MANY:
        return element.items()
    return [(name, element.get(name, "")) for name in element.keys() if name in REGION_ATTRIBUTES]  # noqa: SIM118


def region(tag: str, attributes: list[tuple[str, str]]) -> Region:
    """Return the region of an element; see :func:`claim_of`."""
    return claim_of(tag, attributes).region


def claim_of(tag: str, attributes: list[tuple[str, str]]) -> Claim:
    """Return the claim of an element: that of its role, else of its tag, else the strongest of its names.

    *attributes* is a result of `attributes_of`.
    """
    claim = TAG_CLAIM.get(tag, PLAIN)
    names = PLAIN
    is_fixed = False
    for name, value in attributes:
        if name not in REGION_ATTRIBUTES:
            continue
        if name == "class" or name == "id":
            if tag not in CLASS_IGNORED and (name == "class" or _is_name_of_part(tag, value)):
                named = claim_of_names(value)
                if named.region > names.region:
                    names = named
        elif name == "hidden" or (name == "style" and _HIDING_STYLE.search(value)):
            return _HIDDEN
        elif name == "style":
            is_fixed = _FIXED_STYLE.search(value) is not None
        elif name == "aria-modal":
            if value == "true":
                claim = _DIALOG
        elif name == "role":
            if value in ROLE_REGION:
                claim = Claim(ROLE_REGION[value])
        elif name == "itemprop" and value in _ITEMPROP:
            claim = _ITEMPROP[value]
    if is_fixed and names is not _HIDDEN:
        names = _BOX
    # A footer may be the consent box, but marked main text is not.
    return (
        names
        if claim is PLAIN or names is _HIDDEN or (names == _BOX and claim.region not in _FIRM)
        else claim
    )


def _is_name_of_part(tag: str, id: str) -> bool:
    """Return whether an ``id`` may name a part of the page.

    Long ids, and ids of sections, are usually made from a heading.
    """
    return tag != "section" and (len(_SPLIT.split(id)) <= _ID_WORDS or _first_word(id) in CONSENT_TOOLS)


def _first_word(name: str) -> str:
    return _SPLIT.split(name, maxsplit=1)[0].lower()
