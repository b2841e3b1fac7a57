"""Make fingerprints of items: the text of the chosen fields, and the weighted features of this text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from numbers import Number
from operator import itemgetter
from typing import Any, NamedTuple

from itemadapter import ItemAdapter, is_item
from lxml.html.defs import font_style_tags, phrase_tags, tags
from w3lib.html import remove_comments, remove_tags, remove_tags_with_content, replace_entities, replace_tags

from scrapy_simhash.config import Config
from scrapy_simhash.judge.rule import rule_of
from scrapy_simhash.page.features import features, shingle_counts
from scrapy_simhash.page.fingerprint import Fingerprint, digest, fold, number, occurrences, sketch
from scrapy_simhash.page.text import plain_text
from scrapy_simhash.store import Header, Posting

#: Name of the scheme; ``item_header`` appends the settings.
SCHEME = "items-1"
#: Max characters, and max values, in all chosen fields of a compared item.
LARGEST = 250_000
#: Max nesting of values. This limit also ends the recursion for values that contain themselves.
DEEPEST = 20
#: Max characters of a label.
LONGEST_LABEL = 200
# No language, and therefore no stopwords. On a page, stopwords separate prose from menus. A field has only text that
# the spider chose, and is often too short for thirty shingles with a stopword.
_NO_LANGUAGE = "zxx"


class TooLarge(ValueError):
    """An item is not compared because its fields exceed LARGEST or are nested deeper than DEEPEST."""


class ItemReading(NamedTuple):
    """The posting of an item for the store, and whether it has a SIMHASH_ITEM_KEY.

    The key is a 16-byte hash of the field SIMHASH_ITEM_KEY, or without this setting of all text. The URL is a label:
    the value of the key, else the field ``url``, else the beginning of the text. Items with the same ``page_hash``
    have the same text except for white space and markup; only this hash is compared if ``is_short``.
    """

    posting: Posting
    has_identity: bool


class ItemFingerprinter:
    """Makes fingerprints of items, with the settings of a crawl.

    >>> fingerprinter = ItemFingerprinter(Config(item_fields=("name", "price")))
    >>> a, b = (fingerprinter.read({"name": "Kettle", "price": price}).posting for price in (19, 21))
    >>> a.is_short, a.page_hash == b.page_hash, fingerprinter.read({"price": ""})
    (True, False, None)
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._has_sketches = rule_of(config).compares_sketches
        self._weights = dict(sorted(config.item_fields))

    def read(self, item: Any, seen: int = 0) -> ItemReading | None:
        """Return the reading of *item*, scraped at *seen* (Unix seconds); None if its fields have no text.

        Raises TypeError if *item* is not an item, and TooLarge.
        """
        texts = field_texts(item, self._weights)
        if not texts:
            return None
        adapter = ItemAdapter(item)
        fingerprint = self._fingerprint(texts)
        whole = "\n\n\n".join(f"{field}\n{text}" for field, text in texts.items())
        identity, url = "", adapter.get("url")
        if self._config.item_key is not None:
            identity = " ".join(_Reader(is_literal=True).read(adapter.get(self._config.item_key)))
        label = identity or (url.strip() if isinstance(url, str) else "") or next(iter(texts.values()))
        # An item of three words is not a version of an item of a thousand words.
        size = "short" if fingerprint is None else "long"
        key = digest(f"{size} {label}") + digest(f"{identity} {size}" if identity else whole)
        page_hash = number(whole)
        # Stores and logs cannot write lone surrogates.
        label = label.encode("utf-8", "replace").decode()
        posting = Posting(
            key,
            label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…",
            "",
            fingerprint or Fingerprint(page_hash),
            is_short=fingerprint is None,
            page_hash=page_hash,
            seen=seen,
        )
        return ItemReading(posting, bool(identity))

    def _fingerprint(self, texts: dict[str, str]) -> Fingerprint | None:
        """Return the fingerprint of the fields; None for fewer than ``min_shingles`` distinct shingles in total."""
        weights: dict[str, int] = {}
        counts: Counter[str] = Counter()
        for field, text in texts.items():
            document = plain_text(text, _NO_LANGUAGE)
            times = self._weights[field]
            # A word that occurs in title and body is two features.
            for feature, weight in features(document, min_shingles=1).items():
                weights[f"{field}\n{feature}"] = times * weight
            for shingle, count in shingle_counts(document).items():
                counts[f"{field}\n{shingle}"] = times * count
        if not weights or len(counts) < self._config.min_shingles:
            return None
        value = fold((digest(feature), weight) for feature, weight in weights.items())
        # No title key: users give a greater weight to the field that identifies an item.
        made = sketch(occurrences(counts), ()) if self._has_sketches else b""
        return Fingerprint(value, len(weights), made)


def item_header(config: Config) -> Header:
    """Return the header of a store for items, with the fields, their weights, and the key of items.

    >>> item_header(Config(item_fields={"title": 3, "body": 1}, item_key="url")).scheme
    'items-1: SIMHASH_ITEM_FIELDS body 1, title 3; SIMHASH_ITEM_KEY url'
    """
    fields = ", ".join(f"{field} {weight}" for field, weight in sorted(config.item_fields))
    key = f"; SIMHASH_ITEM_KEY {config.item_key}" if config.item_key else ""
    return Header.of(config, f"{SCHEME}: SIMHASH_ITEM_FIELDS {fields}{key}")


def field_texts(item: Any, fields: Iterable[str]) -> dict[str, str]:
    r"""Return the text of each of *fields* that has text in *item*, in their order.

    *item* is any type that itemadapter supports. HTML tags are removed from strings, bytes are decoded as UTF-8, and
    numbers, dates and similar values are converted with ``str``. Each value of a list is a paragraph, and so is each
    value of a set, sorted. In dictionaries and items each value follows its name, sorted by name. None, and objects
    that do not define ``__str__``, have no text. White space is collapsed, and an empty line separates paragraphs.

    Raises TypeError if *item* is not an item, and TooLarge.

    >>> field_texts({"name": "Kettle", "sizes": [1.5, 1.7], "note": None}, ["name", "note", "sizes"])
    {'name': 'Kettle', 'sizes': '1.5\n\n1.7'}
    """
    adapter = ItemAdapter(item)
    reader = _Reader()
    texts = ((field, "\n\n".join(reader.read(adapter.get(field)))) for field in fields)
    return {field: text for field, text in texts if text}


class _Reader:
    """Reads the values of one item, up to the limit."""

    def __init__(self, is_literal: bool = False) -> None:
        self._room = LARGEST
        self._is_literal = is_literal

    def read(self, value: object, depth: int = 0) -> list[str]:
        """Return the non-empty paragraphs of *value*, including tags if literal."""
        if isinstance(value, bytes | bytearray | memoryview):
            value = bytes(value).decode("utf-8", "replace")
        # Numbers inherit `__str__` from object, which calls `repr`.
        elif isinstance(value, Number):
            value = str(value)
        self._room -= 1 + (len(value) if isinstance(value, str) else 0)
        if self._room < 0 or depth > DEEPEST:
            raise TooLarge(f"fields have more than {LARGEST} characters and values, or are nested too deeply")
        if isinstance(value, str):
            folded = " ".join((value if self._is_literal else without_markup(value)).split())
            return [folded] if folded else []
        if isinstance(value, list | tuple | set | frozenset):
            found = [text for part in value for text in self.read(part, depth + 1)]
            return found if isinstance(value, list | tuple) else sorted(found)
        if isinstance(value, Mapping) or is_item(value):
            named = value if isinstance(value, Mapping) else ItemAdapter(value)
            return [
                f"{name} {text}"
                for name, part in sorted(((str(name), named[name]) for name in named), key=itemgetter(0))
                for text in self.read(part, depth + 1)
            ]
        return [] if value is None or type(value).__str__ is object.__str__ else self.read(str(value), depth)


#: Inline tags, which do not separate words.
_INLINE = (
    *font_style_tags,
    *phrase_tags,
    *("a", "bdi", "bdo", "font", "label", "mark", "q", "span", "sub", "sup"),
)
_TAG = re.compile(rf"</?(?:{'|'.join(sorted(tags))})(?:[\s/][^<>]*)?>", re.IGNORECASE)
# No character has such a large number, and Python refuses to parse thousands of digits.
_LONG_NUMBER = re.compile(r"&#[0-9]{20,};?")


def without_markup(text: str) -> str:
    """Return *text* without tags and with entities replaced if it contains an HTML tag, else unchanged. O(n).

    Block tags separate words, but inline tags do not. Entities in text without a tag are not markup.

    >>> " ".join(without_markup("<p>Salt &amp; pep<b>per</b></p><p>mills</p>").split())
    'Salt & pepper mills'
    >>> without_markup("for all a <b, b> c &amp; more")
    'for all a <b, b> c &amp; more'
    """
    if _TAG.search(text) is None:
        return text
    text = remove_comments(text)
    for name in ("script", "style"):
        # Otherwise the search for each "<" of an unclosed tag would continue to the end of the text.
        end = text.lower().rfind(f"</{name}>") + len(f"</{name}>")
        text = remove_tags_with_content(text[:end], (name,)) + text[end:]
    end = text.rfind(">") + 1
    html = replace_tags(remove_tags(text[:end], which_ones=_INLINE), " ")
    return replace_entities(_LONG_NUMBER.sub("\ufffd", html + text[end:]))
