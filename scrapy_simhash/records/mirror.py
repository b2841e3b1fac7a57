"""URLs of pages in files: that of the site where the folders are those of a mirror, else that of the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from scrapy_simhash.records.source import Origin

#: Folders below the input that may be a host.
_DEEPEST = 3
_SCHEMES = frozenset(("http", "https"))
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
#: wget writes a port after a plus sign where file names may have no colon.
_HOST = re.compile(
    rf"(?:(?:{_LABEL}\.)+[a-z][a-z0-9-]*[a-z0-9]|localhost|(?:\d{{1,3}}\.){{3}}\d{{1,3}})(?:[:+]\d{{1,5}})?",
    re.I,
)


def url_of(origin: Origin) -> str:
    """Return the URL of a page in a file.

    >>> url_of(below(Origin("file:///saved", ()), "example.com/a b.html"))
    'https://example.com/a%20b.html'
    >>> url_of(below(Origin("file:///saved", ()), "pages/a b.html"))
    'file:///saved/pages/a%20b.html'
    """
    return _of_mirror(origin.parts) or _of_mirror((origin.root, *origin.parts)) or origin.url


def below(origin: Origin, name: str) -> Origin:
    """Return where a file lies that is *name*, with slashes, in the folder or archive at *origin*."""
    parts = tuple(part for part in name.split("/") if part not in ("", ".", ".."))
    path = "/".join(quote(part, errors="surrogateescape") for part in parts)
    return Origin(f"{origin.url.rstrip('/')}/{path}", (*origin.parts, *parts), origin.root)


def _of_mirror(parts: Sequence[str]) -> str | None:
    """Return the URL of the file at *parts* if one of the first folders is called like a host."""
    at = next((at for at, part in enumerate(parts[:-1][:_DEEPEST]) if _HOST.fullmatch(part)), None)
    if at is None:
        return None
    scheme = parts[at - 1] if at and parts[at - 1] in _SCHEMES else "https"
    host = parts[at].lower().replace("+", ":")
    # A question mark in a name is that of the URL, and so is a percent sign.
    path = "/".join(
        quote(part, safe="!$&'()*+,;=:@~?%", errors="surrogateescape") for part in parts[at + 1 :]
    )
    # That is what a mirror calls the page of a URL that ends in a slash.
    return f"{scheme}://{host}/{path.removesuffix('index.html') if parts[-1] == 'index.html' else path}"
