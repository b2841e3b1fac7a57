"""Rows: postings and pages as SQLite's values, and back.

Its integers have a sign, so that a 64-bit number from 2**63 on is stored as that number less 2**64. Its texts are
Unicode: a URL with lone surrogates is stored as a BLOB.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store.base import Page, Posting
from scrapy_simhash.store.parts import unpacked

_UNSIGNED = 2**64 - 1

# What of a posting is a content's. ``pages.sketch`` is NULL for a page that is as its content is.
_PAGE = """pages.number, pages.content, contents.page, originals.url, pages.key, pages.url,
    EXISTS (SELECT 1 FROM runs WHERE runs.number = pages.run AND runs.ended IS NOT NULL),
    scopes.scope, contents.is_short, pages.value, coalesce(pages.sketch, sketches.sketch),
    CASE WHEN pages.sketch IS NULL THEN sketches.own ELSE pages.own END, pages.text_hash,
    pages.seen, pages.parts"""
_PAGES = """FROM pages
JOIN contents ON contents.number = pages.content
JOIN scopes ON scopes.number = contents.scope
LEFT JOIN sketches ON sketches.content = contents.number
LEFT JOIN pages AS originals ON originals.number = contents.page AND originals.number <> pages.number"""
_FIRST = (
    "first_scopes.scope, firsts.is_short, firsts.value, first_sketches.sketch, first_sketches.own,"
    " firsts.text_hash, firsts.seen"
)
_FIRSTS = """JOIN scopes AS first_scopes ON first_scopes.number = firsts.scope
LEFT JOIN sketches AS first_sketches ON first_sketches.content = firsts.number"""

#: A row for page_of().
ONE_PAGE = f"SELECT {_PAGE} {_PAGES} WHERE pages.key = ?"
#: Rows for page_of() and first_of(): page by page, for each content that it had before; one at least.
ALL_PAGES = f"""SELECT {_PAGE}, {_FIRST} {_PAGES}
LEFT JOIN (contents AS firsts {_FIRSTS}) ON firsts.page = pages.number
    AND (firsts.number <> pages.content OR pages.sketch IS NOT NULL)
ORDER BY pages.number, firsts.number"""
#: Rows for own_of(): the contents of one page that can be found.
OWN_CONTENTS = f"""SELECT firsts.number, {_FIRST}
FROM contents AS firsts {_FIRSTS}
WHERE firsts.page = ? AND firsts.is_findable ORDER BY firsts.number"""


def signed(number: int) -> int:
    """Return an unsigned 64-bit number as SQLite keeps it.

    >>> signed(2**64 - 1), signed(5)
    (-1, 5)
    """
    return number - (1 << 64) if number >> 63 else number


def unsigned(number: int) -> int:
    """Return the number that signed() took.

    >>> unsigned(-1)
    18446744073709551615
    """
    return number & _UNSIGNED


def signed_hash(number: int | None) -> int | None:
    """Return a hash, known or not, as SQLite keeps it."""
    return None if number is None else signed(number)


def unsigned_hash(number: int | None) -> int | None:
    """Return the hash that signed_hash() took."""
    return None if number is None else unsigned(number)


def stored(text: str) -> str | bytes:
    r"""Return *text* as SQLite can keep it.

    >>> stored("/caf\u00e9"), stored("/\udce9")
    ('/café', b'/\xed\xb3\xa9')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def told(text: str | bytes) -> str:
    """Return the text that stored() took."""
    return text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")


def page_of(row: Sequence[Any]) -> Page:
    """Return the page of a row."""
    number, content, cluster, original, key, url, is_settled = row[:7]
    posting = _posting(key, told(url), is_settled, row[7:14])
    if row[14] is not None:
        posting = posting._replace(parts=unpacked(row[14]))
    return Page(number, posting, content, cluster, None if original is None else told(original))


def first_of(row: Sequence[Any], page: Page) -> Posting | None:
    """Return the posting that an earlier content of *page* came with; None if the row has none."""
    if row[15] is None:
        return None
    return _posting(page.posting.key, page.posting.url, page.posting.is_delivered, row[15:])


def own_of(row: Sequence[Any], page: Page) -> tuple[int, Posting]:
    """Return a content that came from *page*: its number, and the posting that it came with."""
    return row[0], _posting(page.posting.key, page.posting.url, page.posting.is_delivered, row[1:])


def _posting(key: bytes, url: str, is_settled: int, columns: Sequence[Any]) -> Posting:
    scope, is_short, value, sketch, own, text_hash, seen = columns
    fingerprint = Fingerprint(unsigned(value), sketch=sketch or b"", own=own or b"")
    return Posting(
        key, url, told(scope), fingerprint, bool(is_short), unsigned_hash(text_hash), seen, bool(is_settled)
    )
