"""URLs by number, kept compactly: a crawl has millions of URLs and a few thousand sites."""

from __future__ import annotations

from array import array


class Urls:
    """A growing list of URLs: 13 bytes and what follows the host, in UTF-8; scheme and host are kept once.

    >>> urls = Urls()
    >>> urls.append("https://example.com/ferry")
    >>> urls.append("https://example.com/pilot")
    >>> urls[1], len(urls)
    ('https://example.com/pilot', 2)
    >>> urls[1] = "https://example.com/pilot?page=1"
    >>> urls[1]
    'https://example.com/pilot?page=1'
    """

    def __init__(self) -> None:
        self._sites: list[bytes] = []
        self._numbers: dict[bytes, int] = {}
        # By URL: its site, and where in the text it begins; it ends with a byte that UTF-8 does not have.
        self._site = array("I")
        self._start = array("Q")
        self._text = bytearray()

    def __len__(self) -> int:
        return len(self._start)

    @property
    def nbytes(self) -> int:
        """The memory in bytes, without the sites."""
        return len(self._text) + self._site.itemsize * len(self._site) + 8 * len(self._start)

    def append(self, url: str) -> None:
        """Add *url*; its number is the length before. Lone surrogates are kept as they are."""
        site, start = self._put(url)
        self._site.append(site)
        self._start.append(start)

    def __getitem__(self, number: int) -> str:
        start = self._start[number]
        rest = self._text[start : self._text.index(_END, start)]
        return (self._sites[self._site[number]] + rest).decode("utf-8", "surrogatepass")

    def __setitem__(self, number: int, url: str) -> None:
        """Put another URL in its place; the memory of the former is not used again."""
        if url != self[number]:
            self._site[number], self._start[number] = self._put(url)

    def _put(self, url: str) -> tuple[int, int]:
        data = url.encode("utf-8", "surrogatepass")
        # Scheme, colon, two slashes, host: all before the third slash.
        host = data.find(b"/", data.find(b"//") + 2)
        site, rest = (data[:host], data[host:]) if host > 0 else (b"", data)
        number = self._numbers.setdefault(site, len(self._sites))
        if number == len(self._sites):
            self._sites.append(site)
        start = len(self._text)
        self._text += rest + _END
        return number, start


_END = b"\xff"
