"""Markup in a field: what a spider took with its tags reads like what another took without them."""

from __future__ import annotations

import re
from html import unescape

_INLINE = "a|abbr|b|bdi|big|cite|code|em|font|i|ins|kbd|label|mark|q|s|small|span|strong|sub|sup|u|var"
_BLOCK = (
    "address|article|aside|blockquote|body|br|caption|dd|div|dl|dt|figcaption|figure|footer|form|h[1-6]|head|header|hr"
    "|html|iframe|img|input|li|main|nav|noscript|ol|option|p|picture|pre|script|section|select|source|style|svg|table"
    "|tbody|td|textarea|tfoot|th|thead|title|tr|ul|video"
)
# What is inside a tag ends at the next bracket, and what is never closed at the end of the text: so nothing is read
# twice, whatever a stranger wrote.
_REST = r"(?:[\s/][^<>]*)?>"
_TAG = re.compile(rf"</?(?:{_INLINE}|{_BLOCK}){_REST}", re.IGNORECASE)
_INLINE_TAG = re.compile(rf"</?(?:{_INLINE}){_REST}", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[a-z/!?][^<>]*>", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# No character has such a number; Python refuses to read it beyond some thousand digits.
_LONG_NUMBER = re.compile(r"&#[0-9]{20,};?")
_UNSEEN = re.compile(rf"<(script|style){_REST}.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)


def without_markup(text: str) -> str:
    """Return the text that a browser would show, if *text* holds a tag of HTML; anything else as it is.

    A tag of a block parts words, one inside a line does not. Without a tag an entity is no markup. O(n).

    >>> " ".join(without_markup("<p>Salt &amp; pep<b>per</b></p><p>mills</p>").split())
    'Salt & pepper mills'
    >>> without_markup("for all a <b, b> c &amp; more")
    'for all a <b, b> c &amp; more'
    """
    if _TAG.search(text) is None:
        return text
    text = _UNSEEN.sub(" ", _COMMENT.sub(" ", text))
    text = _LONG_NUMBER.sub("\ufffd", text)
    return unescape(_ANY_TAG.sub(" ", _INLINE_TAG.sub("", text)))
