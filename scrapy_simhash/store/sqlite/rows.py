"""Rows: postings and pages as SQLite's values, and back.

Its integers have a sign, so that a 64-bit number from 2**63 on is stored as that number less 2**64. Its texts are
Unicode: a URL with lone surrogates is stored as a BLOB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from struct import error as StructError
from typing import Any

from scrapy_simhash.page.fingerprint import Fingerprint, is_own_part
from scrapy_simhash.store.base import Page, Posting
from scrapy_simhash.store.damage import shown

_UNSIGNED = 2**64 - 1

#: What of a posting is a content's. ``pages.sketch`` is NULL for a page that is as its content is.
_PAGES = """SELECT pages.number, pages.content, contents.page, originals.url, pages.key, pages.url,
    EXISTS (SELECT 1 FROM runs WHERE runs.number = pages.run AND runs.ended IS NOT NULL),
    scopes.scope, contents.is_short, pages.value, coalesce(pages.sketch, sketches.sketch),
    CASE WHEN pages.sketch IS NULL THEN sketches.own ELSE pages.own END, pages.text_hash,
    pages.seen"""
_FROM = """FROM pages
LEFT JOIN contents ON contents.number = pages.content
LEFT JOIN scopes ON scopes.number = contents.scope
LEFT JOIN sketches ON sketches.content = contents.number
LEFT JOIN pages AS originals ON originals.number = contents.page AND originals.number <> pages.number"""
_FIRST = """firsts.number, first_scopes.scope, firsts.is_short, firsts.value, first_sketches.sketch,
    first_sketches.own, firsts.text_hash, firsts.seen"""
_FIRSTS = """LEFT JOIN scopes AS first_scopes ON first_scopes.number = firsts.scope
LEFT JOIN sketches AS first_sketches ON first_sketches.content = firsts.number"""
#: Where the columns of an earlier content begin.
_FIRST_AT = 14

#: A row for page_of().
ONE_PAGE = f"{_PAGES} {_FROM} WHERE pages.key = ?"
#: Rows for page_of() and first_of(): page by page, for each content that it had before; one at least.
SOME_PAGES = f"""{_PAGES}, {_FIRST} {_FROM}
LEFT JOIN contents AS firsts ON firsts.page = pages.number
    AND (firsts.number <> pages.content OR pages.sketch IS NOT NULL)
{_FIRSTS}
WHERE pages.number BETWEEN ? AND ? ORDER BY pages.number, firsts.number"""
#: Rows for own_of(): the contents of one page that can be found.
OWN_CONTENTS = f"""SELECT {_FIRST}
FROM contents AS firsts
{_FIRSTS}
WHERE firsts.page = ? AND firsts.found_by ORDER BY firsts.number"""


class RowDamaged(ValueError):
    """A row that cannot be right; the message names it."""


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
    """Return the page of a row. Raises RowDamaged if that cannot be right, or its content cannot."""
    number, content, cluster, original, key, url, is_settled = row[:7]
    about = f"page {number} ({shown(url)})"
    if cluster is None:
        raise RowDamaged(f"{about}: its content {shown(content)} is missing")
    with _damaged(about):
        posting = _posting(key, told(url), is_settled, row[7:14])
        if not type(content) is type(cluster) is int:
            raise TypeError
    return Page(number, posting, content, cluster, _told(original))


def first_of(row: Sequence[Any], page: Page) -> Posting | None:
    """Return the posting that an earlier content of *page* came with; None if the row has none.

    Raises RowDamaged if it cannot be right.
    """
    return None if row[_FIRST_AT] is None else own_of(row[_FIRST_AT:], page)[1]


def own_of(row: Sequence[Any], page: Page) -> tuple[int, Posting]:
    """Return a content that came from *page*: its number, and the posting that it came with.

    Raises RowDamaged if it cannot be right.
    """
    key, url = page.posting[:2]
    with _damaged(f"content {row[0]}, an earlier one of page {page.number} ({shown(url)})"):
        return row[0], _posting(key, url, page.posting.is_delivered, row[1:])


def _posting(key: bytes, url: str, is_settled: int, columns: Sequence[Any]) -> Posting:
    scope, is_short, value, sketch, own, text_hash, seen = columns
    if type(key) is not bytes or not type(seen) is type(is_short) is int:
        raise TypeError
    if own is not None and not is_own_part(own):
        raise ValueError
    fingerprint = Fingerprint(unsigned(value), sketch=sketch or b"", own=own or b"")
    if type(fingerprint.sketch) is not bytes:
        raise TypeError
    return Posting(
        key, url, told(scope), fingerprint, bool(is_short), unsigned_hash(text_hash), seen, bool(is_settled)
    )


@contextmanager
def _damaged(what: str) -> Iterator[None]:
    """Raise RowDamaged for values that cannot be in a row of *what*."""
    try:
        yield
    except (AttributeError, LookupError, StructError, TypeError, ValueError) as error:
        raise RowDamaged(what) from error


def _told(original: Any) -> str | None:
    """Return the URL of the page that another one repeats, None if there is none that can be read."""
    with suppress(AttributeError, UnicodeDecodeError):
        return told(original)
    return None
