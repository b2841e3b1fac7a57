"""Generate cases: mutated pages of the example site and of ``corpus/``, random trees and texts."""

from __future__ import annotations

import json
import random
from functools import cache

from magazine.site import build_site

from fuzz import ROOT
from fuzz.case import Case, node_line
from fuzz.characters import UNENCODABLE, character, text
from scrapy_simhash.page.language import languages, stopwords
from scrapy_simhash.page.text import tags

CORPUS = ROOT / "fuzz" / "corpus"
#: Max characters of a seed page, because small pages are read faster.
LONGEST_SEED = 6_000

TAGS = (
    *"p p p div div li td th h1 h2 h3 h6 a a b i br html body head title main article nav".split(),
    *"section x-card h hr h10".split(),
    *sorted(tags.UNSEEN),
    *sorted(tags.INLINE),
    *sorted(tags.TAG_REGION),
    *"blockquote caption dd dt figcaption pre summary ul dl table tr o:p".split(),
    *(f"{{http://www.w3.org/1999/xhtml}}{tag}" for tag in ("p", "h1", "a")),
    "{http://www.w3.org/2000/svg}title",
)
ATTRIBUTES = (
    *"class class class id id role style hidden itemprop lang href http-equiv content title".split(),
    *"xml:lang {http://www.w3.org/XML/1998/namespace}lang {urn:x}class {urn:x}hidden".split(),
)
VALUES = (
    *"articleBody content-language Content-Language en de-AT ja zh-Hans x-klingon und main article".split(),
    *sorted(tags.ROLE_REGION),
    *sorted(tags.HEADER_WORDS | tags.HIDDEN_WORDS | tags.NEUTRAL_WORDS),
    *sorted(tags.CHROME_WORDS),
    *"display:none|DISPLAY : none|color:red;visibility:\thidden|display:block|display\u3000:none".split("|"),
)
PRICES = "12 €|USD 3|$1.99|5 kr|7 Ft|100元|100元旦|٣ €|1'000 lei|3 лв|EURO 4|12 円".split("|")

#: Words of names, rows and URLs, each for a different kind of fact.
SAID = (
    "night pilots Harbour lamp v1.26 4.2. 16 2024 12345 98765 7 kiel Ulm posted by views Straße é İ 北京 the of $5 5€"
    " 5 May -4 A+ - Chair Nurse"
).split()
#: Names of pages, in headings and URLs.
NAMES = "night pilots|Harbour lamp 16|Chair|Nurse kiel|4.2. the pilots of Ulm|Straße é|2024 12345|北京".split(
    "|"
)
SEPARATORS = (" | ", " - ", ": ", "：", " ")
#: Blocks with facts; their fields are replaced by some of these words.
BLOCKS = (
    *("<p>{}</p>", "<p>{}: {}</p>", "<h1>{}</h1>", "<h2>{}</h2>", "<p class=meta>{}</p>", "<p hidden>{}</p>"),
    *("<dl><dt>{}</dt><dd>{}</dd></dl>", "<dt>{}<dd>{}<dd>{}", "<p><a href=/>{}</a></p>"),
    "<table><tr><th>{}</th><td>{}</td></tr><tr><td>{}</td><td>{}</td></tr></table>",
    "<ul><li>{}: {}</li><li><b>{}</b> {}</li></ul>",
    *("<div><div>{}</div><div>{}</div></div>", "<div><p>{}</p><p>{}</p><p>{}</p></div>"),
    "<details><summary>{}</summary><p>{}</p></details>",
    "<p>The ship went to the {} and came home with the tide in the bay. {}</p>",
)
#: Structured data: attributes of open elements, elements, JSON-LD and its types.
ITEMS = (
    '<div itemscope itemtype="https://schema.org/Product">|<p itemscope itemtype="Event">|<i hidden>|<template>|'
    '<div itemprop="mainEntity">|<i rel="author" itemtype="Event">|<b itemprop="name">Chair |</i></b></div>|'
    '<i itemprop="sku" content="7">|<div itemprop="offers" itemscope><i itemprop="price">|'
    '<i itemprop="x\u2003address">|<meta itemprop="startDate" content="2026-05-03">|'
    '<time itemprop="startDate" datetime="2026-05-04">today</time>|'
    '<link itemprop="availability" href="https://schema.org/InStock">|'
    '<span itemprop="price">1<!-- no -->9<b>.<i></i></b>00</span>'
).split("|")
THINGS: tuple[object, ...] = (
    {"@type": "Product", "name": "Chair", "sku": "C-1"},
    {"@type": "Product", "name": "Chair", "sku": "C-2", "offers": {"price": 19}},
    {"@type": "JobPosting", "title": "Nurse", "jobLocation": {"@type": "Place", "address": "Kiel"}},
    [],
)
KEYS = (
    "@type @graph mainEntity title name sku startDate address jobLocation hiringOrganization @value x".split()
)
TYPES = (
    *("application/ld+json", " APPLICATION/LD+JSON;x", "\vapplication/ld+json", "\u2003application/ld+json"),
    *("text/json", ""),
)
HOSTS = (
    "lamp.example|www.lamp.example|WWW.Lamp.Example|night-pilots.example|Straße.example|북.example|xn--strae-oqa.example|"
    "127.0.0.1|[::1]||www.|İ.example|\ud800.example|a@b:80"
).split("|")
PATHS = (
    "|print|16|2024|%C3%A9|\udc80|\ud83d\ude00|;a=b|a:b@c|é|index.html|..|%2e|page/2|-p3.html|2024/05|;jsessionid=1|"
    "default.asp"
).split("|")
QUERIES = "page=2 page p=3 utm_source=x month=2024-05 b=2 a=1 a= = % sid=7 id=12345 night=pilots#lamp".split()


@cache
def seeds() -> tuple[str, ...]:
    """Return the seed pages."""
    site = [
        page.body().decode(page.encoding, "replace")
        for page in build_site(port=8000).values()
        if page.is_html
    ]
    return (*site, *(file.read_text("utf-8") for file in sorted(CORPUS.glob("*.html"))))


def case(dice: random.Random) -> Case:
    """Return a case; equal *dice* make equal cases."""
    kind = dice.choices(("html", "bytes", "raw", "xml", "tree", "text"), (8, 2, 1, 3, 5, 4))[0]
    language = dice.choice((None, None, None, "en", "de", "ja", "zh", "xx", "sr-Latn", ""))
    if kind == "text":
        return Case(kind, _plain_text(dice), language)
    part = dice.randint(1, 50) if dice.random() < 0.15 else 0
    if kind == "tree":
        return Case(kind, _tree(dice), language, part)
    name = dice.choice(NAMES)
    if dice.random() < 0.4:
        markup = _stating(dice, name)
    else:
        markup = _spoilt(dice, _spliced(dice) if dice.random() < 0.7 else _markup(dice))
    if kind == "bytes":
        encoding = dice.choice(("utf-8", "utf-8", "cp1252", "utf-16"))
        markup = _broken(dice, markup.encode(encoding, "replace")).decode("latin-1")
    elif kind == "raw":
        markup = _broken(dice, markup.encode("utf-8", "replace")).decode("latin-1")
    elif kind == "xml":
        markup = _as_xml(dice, markup)
    return Case(kind, markup, language, part, dice.random() < 0.3, url(dice, name))


def url(dice: random.Random, name: str) -> str:
    """Return a valid or invalid URL, which may contain the *name* of its page."""
    scheme = dice.choice(
        ("https://", "https://", "http://", "HTTP://", "://", "//", "", "file:///", "data:", "https:/")
    )
    parts = [
        dice.choice((dice.choice(PATHS), f"{name} {_said(dice)}".replace(" ", "-")))
        for _ in range(dice.randint(0, 4))
    ]
    query = "&".join(dice.choice(QUERIES) for _ in range(dice.randint(0, 3)))
    end = dice.choice(("", "", "/", "//", "?", "#", "#/12345", "?a#b?c", f"?{query}", f"?{query}"))
    return (
        scheme
        + dice.choice(("", "", "", "ann:secret@", "a@b@"))
        + dice.choice(HOSTS)
        + "".join(f"/{one}" for one in parts)
        + end
    )


def _said(dice: random.Random) -> str:
    return " ".join(dice.choice(SAID) for _ in range(dice.randint(0, 5)))


def _stating(dice: random.Random, name: str) -> str:
    """Return a page about *name* with facts and structured data."""
    title = "".join(
        said + dice.choice(SEPARATORS) for said in (dice.choice((name, "", "Chair")), _said(dice))
    )
    parts = [
        dice.choice(
            (f"<h1>{name}</h1>", f"<h1>{name}</h1>", "", f"<h2>{name}</h2>", "<nav><h1>Lamp</h1></nav>")
        )
    ]
    for _ in range(dice.randint(0, 14)):
        draw = dice.random()
        if draw < 0.6:
            said = [_said(dice) for _ in range(4)]
            parts.append(dice.choice(BLOCKS).format(*said) * dice.choice((1, 1, 1, 2, 30)))
        elif draw < 0.9:
            parts.append(dice.choice(ITEMS))
        else:
            parts.append(f'<script type="{dice.choice(TYPES)}">{_json(dice)}</script>')
    body = dice.choice(
        ("<body>", "<body><main>", '<body hidden itemscope itemtype="Product"><i itemprop="name">Chair</i>')
    )
    return f"<html lang={dice.choice(('en', 'de', 'zh'))}><title>{title}</title>{body}{''.join(parts)}"


def _json(dice: random.Random) -> str:
    thing = dice.choice(THINGS)
    written = json.dumps(
        thing if dice.random() < 0.5 else [{"@graph": [thing, _any_value(dice)]}, _any_value(dice)]
    )
    return written if dice.random() < 0.9 else _cut(dice, written)


def _any_value(dice: random.Random, depth: int = 3) -> object:
    kind = dice.randrange(4 if depth else 2)
    if kind < 2:
        return dice.choice(
            (None, True, 7, 1e99, "Nurse", "Event", "\ud800", "1" * 5_000, float("nan"), _said(dice))
        )
    values = [_any_value(dice, depth - 1) for _ in range(dice.randint(0, 4))]
    return values if kind == 2 else {dice.choice(KEYS): value for value in values}


def _spliced(dice: random.Random) -> str:
    """Return a page spliced from pieces of one to three seeds."""
    pieces = []
    for _ in range(dice.choice((1, 1, 2, 3))):
        seed = dice.choice(seeds())
        start = 0 if dice.random() < 0.5 else dice.randrange(len(seed) + 1)
        pieces.append(seed[start : start + dice.randint(1, LONGEST_SEED)])
    return "".join(pieces)


def _spoilt(dice: random.Random, markup: str) -> str:
    for _ in range(dice.choice((0, 1, 2, 4, 8, 16))):
        markup = dice.choice(SPOILERS)(dice, markup)
    return markup


def _cut(dice: random.Random, markup: str) -> str:
    start = dice.randrange(len(markup) + 1)
    return markup[:start] + markup[start + dice.choice((1, 2, 10, 100)) :]


def _repeat(dice: random.Random, markup: str) -> str:
    start = dice.randrange(len(markup) + 1)
    piece = markup[start : start + dice.choice((1, 5, 20, 200))]
    return markup[:start] + piece * dice.choice((2, 2, 3, 40)) + markup[start:]


def _insert(dice: random.Random, markup: str, piece: str) -> str:
    place = dice.randrange(len(markup) + 1)
    if dice.random() < 0.6:  # between tags
        place = markup.find(">", place) + 1 or place
    return markup[:place] + piece + markup[place:]


def _insert_piece(dice: random.Random, markup: str) -> str:
    make = dice.choice((_words, _words, character, lambda dice: _markup(dice, most=3)))
    return _insert(dice, markup, make(dice))


def _insert_tag(dice: random.Random, markup: str) -> str:
    tag = _plain_tag(dice)
    return _insert(dice, markup, f"</{tag}>" if dice.random() < 0.3 else _opening(dice, tag))


def _insert_attribute(dice: random.Random, markup: str) -> str:
    place = markup.find(">", dice.randrange(len(markup) + 1))
    if place <= 0:
        return markup
    return markup[:place] + _attribute(dice) + markup[place:]


def _replace_characters(dice: random.Random, markup: str) -> str:
    old = dice.choice(markup or "x")
    return markup if old in "<>" else markup.replace(old, character(dice))


SPOILERS = (
    *(_cut, _repeat, _insert_tag, _insert_attribute, _replace_characters),
    *(_insert_piece, _insert_piece, _insert_piece, _insert_piece),
)


def _words(dice: random.Random) -> str:
    """Return a text: prose in some language, unusual characters, a price."""
    dies = dice.random()
    if dies < 0.35:
        words = sorted(stopwords(dice.choice(languages())))
        return " ".join(dice.choice(words) for _ in range(dice.randint(1, 50))) + dice.choice((".", "", "。"))
    if dies < 0.5:
        return text(dice, 10) + dice.choice(PRICES) + text(dice, 10)
    if dies < 0.55:
        return text(dice, 6) * dice.randint(10, 1_100)
    return text(dice, dice.choice((5, 40, 300)))


def _value(dice: random.Random) -> str:
    parts = [
        dice.choice(VALUES) if dice.random() < 0.7 else text(dice, 12) for _ in range(dice.randint(0, 4))
    ]
    value = dice.choice((" ", "-", "", "\u3000")).join(parts)
    return value.title() if dice.random() < 0.2 else value


def _plain_tag(dice: random.Random) -> str:
    return dice.choice(TAGS).rpartition("}")[2]


def _attribute(dice: random.Random) -> str:
    value = _value(dice).replace("&", "").replace("<", "").replace('"', "")
    return f' {dice.choice(ATTRIBUTES).rpartition("}")[2]}="{value}"'


def _opening(dice: random.Random, tag: str) -> str:
    return f"<{tag}{''.join(_attribute(dice) for _ in range(dice.choice((0, 0, 1, 2))))}>"


def _markup(dice: random.Random, most: int = 40) -> str:
    """Return markup with some of its elements closed."""
    parts, opened = [], []
    for _ in range(dice.randint(1, most)):
        what = dice.random()
        if what < 0.45:
            opened.append(_plain_tag(dice))
            parts.append(_opening(dice, opened[-1]))
        elif what < 0.75:
            parts.append(_words(dice).replace("<", ""))
        elif what < 0.8:
            parts.append(
                dice.choice(("<!-- a -->", "<?pi x?>", "<!--", "&eacute;", "&#x301;", "<![CDATA[x]]>"))
            )
        elif opened:
            parts.append(f"</{opened.pop()}>")
    if dice.random() < 0.1:
        parts.append("<div>" * dice.randint(30, 300))
        parts.append(_words(dice))
    return "".join(parts)


def _as_xml(dice: random.Random, markup: str) -> str:
    """Return *markup* with namespaces, declared entities and defaults, and CDATA."""
    head = dice.choice(
        (
            "",
            "<?xml version='1.0'?>",
            "<!DOCTYPE html [<!ENTITY eacute 'é'><!ENTITY nested '<b>x</b>&eacute;'>]>",
            "<!DOCTYPE html [<!ATTLIST html lang CDATA 'fr'><!ATTLIST p class CDATA 'nav'>]>",
        )
    )
    attributes = dice.choice(
        ("", " xmlns='http://www.w3.org/1999/xhtml'", " xml:lang='de'", " xmlns:lang='urn:x' lang:lang='fr'")
    )
    text_in_cdata = f"<![CDATA[{text(dice, 20)}]]>&nested;&eacute;" if dice.random() < 0.5 else ""
    return f"{head}<html{attributes}>{text_in_cdata}{markup}</html>"


def _broken(dice: random.Random, body: bytes) -> bytes:
    """Return *body* with some invalid bytes."""
    spoilt = bytearray(body)
    for _ in range(dice.choice((0, 1, 5))):
        place = dice.randrange(len(spoilt) + 1)
        spoilt[place:place] = bytes(dice.randrange(256) for _ in range(dice.randint(1, 4)))
    return bytes(spoilt)


def _tree(dice: random.Random) -> str:
    lines = [node_line(0, "element", dice.choice(TAGS), _attributes(dice), _maybe_words(dice), "")]
    is_deep = dice.random() < 0.1
    for i in range(dice.choice((1, 5, 20, 60))):
        parent = i if is_deep else dice.randint(0, i)
        kind = dice.choices(("element", "comment", "pi", "entity"), (20, 2, 1, 0.1))[0]
        attributes = _attributes(dice)
        lines.append(
            node_line(parent, kind, dice.choice(TAGS), attributes, _maybe_words(dice), _maybe_words(dice))
        )
    return "\n".join(lines)


def _attributes(dice: random.Random) -> dict[str, str]:
    return {dice.choice(ATTRIBUTES): _value(dice) for _ in range(dice.choice((0, 0, 0, 1, 2)))}


def _maybe_words(dice: random.Random) -> str:
    return dice.choice(("", "", " ", "\n ", "x", _words(dice), _words(dice)))


def _plain_text(dice: random.Random) -> str:
    parts = [
        _words(dice)
        + dice.choice(("", " ", "\n", "\n\n", "\n \u2028\n", "\r\n\r\n", "\x85\n", text(dice, 4)))
        for _ in range(dice.randint(0, 8))
    ]
    if dice.random() < 0.05:
        parts.append(dice.choice(UNENCODABLE))
        dice.shuffle(parts)
    return "".join(parts)
