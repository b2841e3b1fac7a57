"""What kind of file something is, by its first bytes; the name decides only where these say nothing."""

from __future__ import annotations

import re
from pathlib import PurePath

from scrapy_simhash.files.records.feeds import BYTE_ORDER_MARK

#: What can be read, for a message.
KINDS = (
    "folders, HTML, JSON Lines, JSON arrays, CSV, Parquet, WARC, WET, Scrapy's HTTP cache (a folder), zip, tar,"
    " and these compressed by gzip, zstd, bz2 or xz"
)

_HTML = re.compile(rb"\s*<(?!svg[\s>])(?:!doctype\s+html|!--|[a-z][a-z0-9]*[\s/>]|\?xml)", re.I)
_XHTML = re.compile(rb"<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)
_JSON_LINES = re.compile(rb'\s*\{\s*(?:"|\}|$)')
_JSON_ARRAY = re.compile(rb"\s*\[\s*(?:[\[{\]\"]|$)")
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
#: Encodings with two bytes a character, which pages of HTML may have.
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def kind_of(head: bytes, name: str) -> str | None:
    r"""Return the kind of a file with these first bytes that is called *name*, None for one that is not known.

    >>> kind_of(b'{"url": "https://example.com/"}\n', "pages.csv"), kind_of(b"\x89PNG\x1a", "boat.html")
    ('jsonlines', None)
    """
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    suffix = PurePath(name).suffix.lower()
    if head[257:262] == b"ustar" or (suffix == ".tar" and head[:1] and head[100:107].strip(b" 0").isdigit()):
        return "tar"
    text = head.removeprefix(BYTE_ORDER_MARK)
    if head.startswith(_WIDE):
        return "html" if b"<" in head and (suffix in HTML_ENDINGS or _is_html(_narrow(head))) else None
    if _is_html(text):
        return "html"
    if _JSON_LINES.match(text):
        return "jsonlines"
    if _JSON_ARRAY.match(text):
        return "json"
    return _by_name(text, suffix)


HTML_ENDINGS = frozenset((".html", ".htm", ".xhtml", ".shtml", ".asp", ".aspx", ".php", ".jsp"))
_TABLE_ENDINGS = frozenset((".csv", ".tsv"))
_MAGIC = (
    (b"WARC/", "warc"),
    (b"PAR1", "parquet"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
)


def _is_html(text: bytes) -> bool:
    match = _HTML.match(text)
    if match is None:
        return False
    # XML is a page only if it says so: a feed or a sitemap is none.
    return not match[0].lstrip().startswith(b"<?xml") or bool(_XHTML.search(text))


def _narrow(head: bytes) -> bytes:
    encoding = "utf-16" if len(head) % 2 == 0 else "utf-16-le"
    return head.decode(encoding, "replace").encode("ascii", "replace")


def _by_name(text: bytes, suffix: str) -> str | None:
    if suffix in HTML_ENDINGS and not _BINARY.search(text):
        return "html"
    first = text.partition(b"\n")[0]
    if _BINARY.search(first):
        return None
    # A first row of names: a table that comes through a pipe has no ending.
    if suffix in _TABLE_ENDINGS or re.search(
        rb"(?:^|[,;\t])\"?(?:url|uri|link)\"?\s*(?:$|[,;\t])", first, re.I
    ):
        return "csv"
    return None
