"""A page of the site, its address, and its parts that change from one request to the next.

A template contains slots, such as `{{ad en}}`, which the server fills at each request. The values depend only on the
address and on the number of the request for it, so a crawl can be repeated byte for byte.

    {{ad LANG}}   an advertisement          {{reads}}   a counter, "1,482"
    {{built}}     a timestamp               {{token}}   32 hexadecimal digits, as in a form or a script
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import NamedTuple
from urllib.parse import urlsplit

from magazine.catalogue import load_ads

MAIN_HOST = "127.0.0.1"
PARTNER_HOST = "localhost"
_SLOT = re.compile(r"\{\{(\w+)(?: (\w+))?\}\}")
_OPENING = datetime(2024, 6, 30, 6, 0, 0)


class Address(NamedTuple):
    """The address of a page: the host name without port, and the path with its query, percent-encoded."""

    host: str
    target: str

    @property
    def key(self) -> str:
        """The name of the page in truth.json: `/path?query`, or `partner:/path` on the partner's host."""
        return self.target if self.host == MAIN_HOST else f"partner:{self.target}"

    @classmethod
    def of(cls, url: str) -> "Address":
        """Return the address of a full URL, any port, or of a key of truth.json; a fragment is dropped."""
        if url.startswith("partner:"):
            return cls(PARTNER_HOST, url.removeprefix("partner:"))
        parts = urlsplit(url)
        host = PARTNER_HOST if parts.hostname == PARTNER_HOST else MAIN_HOST
        return cls(host, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))


@dataclass(frozen=True)
class Page:
    """A response of the site, with its main text.

    *kind* is the kind of the page (`article`, `print-view`, `listing`, ...). *main_text* has one block per line,
    without title, boilerplate and advertisements. It comes from the content and is not extracted from the markup; it
    is empty if the page is not readable HTML.
    """

    address: Address
    kind: str
    content: str | bytes
    main_text: str = ""
    status: int = 200
    lang: str = ""
    story: str = ""
    family: str = ""
    encoding: str = "utf-8"
    content_type: str = "text/html; charset=utf-8"
    location: str = ""

    @property
    def is_html(self) -> bool:
        """Whether the content type of the page is HTML."""
        return self.content_type.startswith("text/html")

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the response, without the length, which may differ between requests."""
        headers = {"Content-Type": self.content_type}
        return {**headers, "Location": self.location} if self.location else headers

    def body(self, visit: int = 0) -> bytes:
        """Return the body for the request number *visit*, from 0.

        Characters that the encoding of the page lacks are numeric character references.
        """
        if isinstance(self.content, bytes):
            return self.content
        return _fill(self.content, self.address.key, visit).encode(self.encoding, "xmlcharrefreplace")


def stable(text: str) -> int:
    """Return a number from 0 to 2**64 - 1 that depends only on *text*, unlike hash()."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _fill(markup: str, address: str, visit: int) -> str:
    """Fill the slots of *markup*; two successive requests differ in every slot."""
    start, shown = stable(address), count()

    def put(match: re.Match[str]) -> str:
        name, lang = match.groups()
        if name == "ad":
            ads = load_ads()[lang]
            return ads[(start + visit + 2 * next(shown)) % len(ads)]
        if name == "reads":
            return f"{200 + start % 4800 + visit:,}"
        if name == "built":
            return (_OPENING + timedelta(seconds=start % 40_000 + 37 * visit)).isoformat(sep=" ")
        return hashlib.sha256(f"{address} {visit}".encode()).hexdigest()[:32]

    return _SLOT.sub(put, markup)
