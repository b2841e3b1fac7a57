"""URLs: a key that is equal for URLs of the same page, and the detection of pagination."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from w3lib.url import canonicalize_url

from scrapy_simhash.patterns import lazy_pattern

#: Max characters of a URL that is parsed; few servers accept longer URLs.
MAX_ADDRESS = 8_192
#: Default ports. Ports 80 and 443 of a host count as the same site.
_DEFAULT_PORTS = (80, 443)
#: Names of index files, which servers send for the URL of a folder.
_INDEX = lazy_pattern(
    r"(?:index|default)\.(?:[sx]?html?|php\d?|aspx?|jspx?|cfm|cgi|pl)", re.ASCII | re.IGNORECASE
)
#: Tracking and session parameters, which never change the page. Names that may have another meaning (``sid``,
#: ``ref``, ``source``) are not included.
_TRACKING = frozenset(
    "_ga _gl _hsenc _hsmi dclid fbclid gbraid gclid gclsrc igshid mc_cid mc_eid mkt_tok msclkid srsltid wbraid"
    " yclid aspsessionid cfid cftoken jsessionid oscsid phpsessid zenid".split()
)
_TRACKING_PREFIX = "utm_"
# A URL that needs only changes of scheme, host and the end of the path, because it has no /../ to resolve.
_SIMPLE = lazy_pattern(r"https?://([a-z0-9.-]+)(/(?:[\w/-]|(?<!/)\.)*)", re.ASCII)
_SESSION = lazy_pattern(r";jsessionid=[^/;]*", re.ASCII | re.IGNORECASE)


# Cached, because the URLs of a page and its original are needed several times.
@lru_cache(maxsize=2_048)
def url_key(url: str) -> str:
    """Return a key that is equal for URLs that certainly lead to the same page.

    The key ignores scheme, leading ``www.``, default port, trailing slash, index files such as ``/index.html``,
    fragment, order of parameters, session ids and tracking parameters. The key has the form of a URL, but this URL
    need not exist. The key of a key is the key itself. Strings that are not HTTP(S) URLs, or longer than
    `MAX_ADDRESS`, are returned unchanged. Never raises. Takes 2 to 30 µs.

    >>> url_key("https://www.example.com:443/boats/index.html?b=2&a=1&utm_source=mail#top")
    'http://example.com/boats?a=1&b=2'
    """
    if len(url) > MAX_ADDRESS:
        return url
    if simple := _SIMPLE.fullmatch(url):
        return f"http://{_bare(simple[1])}{trimmed(simple[2])}"
    try:
        parts = urlsplit(canonicalize_url(url))
        host, port = parts.hostname, parts.port
    except ValueError:
        return url
    if parts.scheme not in ("http", "https") or not host:
        return url
    user = parts.netloc.rpartition("@")[0]
    host = f"[{host}]" if ":" in host else _bare(host)
    netloc = f"{user}@{host}" if user else host
    if port is not None and port not in _DEFAULT_PORTS:
        netloc = f"{netloc}:{port}"
    query = "&".join(
        part for part in parts.query.split("&") if part and not is_tracking(part.partition("=")[0])
    )
    key = f"http://{netloc}{trimmed(_SESSION.sub('', parts.path))}"
    return f"{key}?{query}" if query else key


def trimmed(path: str) -> str:
    """Return *path* without trailing slashes and names of index files.

    >>> trimmed("/boats/index.php"), trimmed("/boats/"), trimmed("/")
    ('/boats', '/boats', '')
    """
    end = len(path)
    while True:
        while end and path[end - 1] == "/":
            end -= 1
        start = path.rfind("/", 0, end) + 1
        if not start or not _INDEX.fullmatch(path, start, end):
            return path[:end]
        end = start


def _bare(host: str) -> str:
    host = host.rstrip(".") or host
    start = 0
    while host.startswith("www.", start) and host.find(".", start + 4) >= 0:
        start += 4
    return host[start:]


def is_tracking(parameter: str) -> bool:
    """Return whether *parameter*, a name, is a tracking or session parameter.

    >>> is_tracking("utm_source"), is_tracking("sid")
    (True, False)
    """
    name = parameter.lower()
    return name in _TRACKING or name.startswith(_TRACKING_PREFIX)


_PAGE_WORDS = (
    "page pagenum pagenumber pageno pageindex paged pg seite pagina pag sida side strona sivu".split()
)
#: Parameters for page numbers and offsets, without underscores and hyphens.
_PAGE_PARAMETERS = frozenset((*_PAGE_WORDS, "currentpage", "from", "offset", "p", "skip", "start"))
#: Max digits of a page number or offset; longer numbers are ids.
_PAGE_NUMBER = lazy_pattern(r"\d{1,6}", re.ASCII)
# Matches whole segments (/page/2, /page-2, /p2, page2.html), and the end of a segment (boats-page-2.html).
_PAGE_IN_PATH = lazy_pattern(
    rf"/(?:(?:{'|'.join(_PAGE_WORDS)})[/=_-]?\d{{1,6}}|p\d{{1,4}})(?:\.\w{{1,5}}$|(?=/|$))"
    rf"|[-_.](?:(?:{'|'.join(_PAGE_WORDS)})[=_-]?\d{{1,6}}|p\d{{1,4}})(?=\.\w{{1,5}}$|/|$)",
    re.ASCII | re.IGNORECASE,
)


def are_pages_of_one_listing(url: str, original: str, steps: Iterable[str] = ()) -> bool:
    """Return whether two URLs are pages of one listing.

    This is the case if the URLs differ only in a page number, or if *original* is one of *steps*, the next and the
    previous page named by the page at *url*. Never raises.

    >>> are_pages_of_one_listing("http://example.com/boats?page=2", "http://example.com/boats")
    True
    >>> are_pages_of_one_listing("http://example.com/boats?sort=name", "http://example.com/boats")
    False
    """
    own, other = url_key(url), url_key(original)
    if own == other:
        return False
    rest, numbers = _without_pages(own)
    other_rest, other_numbers = _without_pages(other)
    if other_rest == rest and other_numbers != numbers:
        return True
    return other in map(url_key, steps)


def _without_pages(key: str) -> tuple[str, list[str]]:
    """Split *key* into the URL without page numbers, and the page numbers."""
    parts = urlsplit(key)
    kept: list[str] = []
    numbers: list[str] = []
    for parameter in parts.query.split("&") if parts.query else ():
        name, _, value = parameter.partition("=")
        is_page = counts_pages(name) and _PAGE_NUMBER.fullmatch(value)
        (numbers if is_page else kept).append(parameter)
    path = parts.path
    if in_path := _PAGE_IN_PATH.findall(path):
        numbers += in_path
        path = trimmed(_PAGE_IN_PATH.sub("", path))
    return f"{parts.netloc}{path}?{'&'.join(kept)}".removesuffix("?"), numbers


def counts_pages(parameter: str) -> bool:
    """Return whether *parameter*, a name, is a page number or an offset.

    >>> counts_pages("Page-No"), counts_pages("sort")
    (True, False)
    """
    return parameter.lower().translate(_NO_MARKS) in _PAGE_PARAMETERS


_NO_MARKS = {ord(mark): None for mark in "-_"}
