"""The text of the chosen fields of an item."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from numbers import Number
from operator import itemgetter
from typing import Any

from itemadapter import ItemAdapter, is_item
from lxml.html.defs import font_style_tags, phrase_tags, tags
from w3lib.html import remove_comments, remove_tags, remove_tags_with_content, replace_entities, replace_tags

#: Max characters, and max values, of all chosen fields together of an item that is compared.
LARGEST = 250_000
#: Max nesting of values; it also stops at values that contain themselves.
DEEPEST = 20


class TooLarge(ValueError):
    """An item is not compared because its fields exceed LARGEST or are nested more deeply than DEEPEST."""


def field_texts(item: Any, fields: Iterable[str]) -> dict[str, str]:
    r"""Return the text of each of *fields* that has text in *item*, in their order.

    *item* is any type that itemadapter supports. Strings are used without HTML tags; bytes are decoded as UTF-8;
    numbers, dates and the like become their ``str``. Each value of a list is a paragraph, and each value of a set,
    sorted. In dictionaries and items each value follows its name, sorted by name. None, and objects without a ``str``
    of their own, have no text. White space is collapsed, and an empty line separates paragraphs.

    Raises TypeError for anything that is no item, and TooLarge.

    >>> field_texts({"name": "Kettle", "sizes": [1.5, 1.7], "note": None}, ["name", "note", "sizes"])
    {'name': 'Kettle', 'sizes': '1.5\n\n1.7'}
    """
    adapter = ItemAdapter(item)
    reader = _Reader()
    texts = ((field, "\n\n".join(reader.read(adapter.get(field)))) for field in fields)
    return {field: text for field, text in texts if text}


def value_text(value: object) -> str:
    """Return the text of one value, including tags, in one line, to identify items. Raises TooLarge.

    >>> value_text(" A-17 "), value_text(17), value_text(("https://example.com", 2)), value_text(None)
    ('A-17', '17', 'https://example.com 2', '')
    """
    return " ".join(_Reader(is_literal=True).read(value))


class _Reader:
    """Reads the values of one item, up to the limit."""

    def __init__(self, is_literal: bool = False) -> None:
        self._room = LARGEST
        self._is_literal = is_literal

    def read(self, value: object, depth: int = 0) -> list[str]:
        """Return the non-empty paragraphs of *value*."""
        self._take(1)
        if depth > DEEPEST:
            raise TooLarge(f"values are nested more than {DEEPEST} deep")
        if value is None:
            return []
        if isinstance(value, bytes | bytearray | memoryview):
            value = bytes(value).decode("utf-8", "replace")
        if isinstance(value, str):
            return self._paragraph(value)
        if isinstance(value, list | tuple):
            return [text for part in value for text in self.read(part, depth + 1)]
        if isinstance(value, set | frozenset):
            return sorted(text for part in value for text in self.read(part, depth + 1))
        if isinstance(value, Mapping) or is_item(value):
            named = value if isinstance(value, Mapping) else ItemAdapter(value)
            return [
                f"{name} {text}"
                for name, part in sorted(((str(name), named[name]) for name in named), key=itemgetter(0))
                for text in self.read(part, depth + 1)
            ]
        # Numbers inherit `str` from object, which calls their `repr`.
        if isinstance(value, Number) or type(value).__str__ is not object.__str__:
            return self._paragraph(str(value))
        return []

    def _paragraph(self, text: str) -> list[str]:
        self._take(len(text))
        folded = " ".join((text if self._is_literal else without_markup(text)).split())
        return [folded] if folded else []

    def _take(self, room: int) -> None:
        self._room -= room
        if self._room < 0:
            raise TooLarge(f"fields have more than {LARGEST} characters and values")


#: Inline tags, which do not separate words.
_INLINE = (
    *font_style_tags,
    *phrase_tags,
    *("a", "bdi", "bdo", "font", "label", "mark", "q", "span", "sub", "sup"),
)
_TAG = re.compile(rf"</?(?:{'|'.join(sorted(tags))})(?:[\s/][^<>]*)?>", re.IGNORECASE)
# No character has such a number, and Python refuses to parse thousands of digits.
_LONG_NUMBER = re.compile(r"&#[0-9]{20,};?")


def without_markup(text: str) -> str:
    """Return *text* without tags and with entities replaced if it contains an HTML tag, else unchanged. O(n).

    Block tags separate words, inline tags do not. Entities in text without a tag are no markup.

    >>> " ".join(without_markup("<p>Salt &amp; pep<b>per</b></p><p>mills</p>").split())
    'Salt & pepper mills'
    >>> without_markup("for all a <b, b> c &amp; more")
    'for all a <b, b> c &amp; more'
    """
    if _TAG.search(text) is None:
        return text
    text = remove_comments(text)
    for name in ("script", "style"):
        # Otherwise each "<" of an unclosed tag would be searched to the end of the text.
        end = text.lower().rfind(f"</{name}>") + len(f"</{name}>")
        text = remove_tags_with_content(text[:end], (name,)) + text[end:]
    end = text.rfind(">") + 1
    html = replace_tags(remove_tags(text[:end], which_ones=_INLINE), " ")
    return replace_entities(_LONG_NUMBER.sub("\ufffd", html + text[end:]))
