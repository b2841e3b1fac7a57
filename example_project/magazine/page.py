"""A page of the site, the address it answers at, and the parts of it that change from one fetch to the next.

A template writes a slot, `{{ad en}}`; the server fills it when the page is fetched. What goes in depends on the
address and the number of the visit only: no clock, no chance, so a crawl can be repeated to the byte.

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
    """Where a page lives: the host name without port, and the path with its query, percent-encoded."""

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
    """One answer of the site: what is sent, and beside it what a reader would say the page holds.

    *kind* is one word for what the page is to the site (`article`, `print-view`, `listing`, ...).
    *main_text* is what the page is about, one block a line, without title, chrome or advertisements; it is made
    from the content, never read back from the markup. Empty if the page is not a readable HTML page.
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
        """Whether the page is sent as HTML, readable or not."""
        return self.content_type.startswith("text/html")

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer, without the length, which may change with the visit."""
        headers = {"Content-Type": self.content_type}
        return {**headers, "Location": self.location} if self.location else headers

    def body(self, visit: int = 0) -> bytes:
        """Return the bytes sent to the given *visit*, counted from 0.

        A character the page's encoding lacks is sent as a numeric reference, as old editors did.
        """
        if isinstance(self.content, bytes):
            return self.content
        return _fill(self.content, self.address.key, visit).encode(self.encoding, "xmlcharrefreplace")


def stable(text: str) -> int:
    """Return a number that depends on *text* alone, the same on every machine and hash seed; 0 to 2**64 - 1."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _fill(markup: str, address: str, visit: int) -> str:
    """Fill the slots of *markup*; two visits in a row differ in every slot."""
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
