"""URL groups: the one pattern that a URL is counted under, coarse enough for a table that people read."""

from __future__ import annotations

import re

#: Characters of a pattern that are kept.
LONGEST = 200
#: Parameters that a pattern names.
MOST_NAMES = 8
_NUMBER = re.compile(r"[0-9]+")
#: A segment that is a number, or a word with one: 2024, page-2.html, p17.
_COUNTED = re.compile(r"(?:[A-Za-z]{1,20}[-_.]?)?[0-9]+(?:\.[A-Za-z]{1,5})?")
#: A digest, a UUID, or any long run of letters and digits.
_OPAQUE = re.compile(r"(?=[^0-9]*[0-9])[0-9A-Za-z]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4,12}){3,4}")


def url_group(url: str) -> str:
    """Return path and parameters of *url* with what differs from page to page left open.

    >>> url_group("https://example.com/boats/2024/05/the-ferry?utm_source=mail&id=7")
    '/boats/{number}/{number}/*?id&utm_source'
    >>> url_group("https://example.com/boats/page-2.html"), url_group("https://example.com/")
    ('/boats/page-{number}.html', '/')
    """
    rest, _, query = url.partition("#")[0].partition("?")
    _, _, rest = rest.partition("://")
    *folders, last = rest.split("/")[1:] or [""]
    if folders and _NUMBER.search("".join(folders)):
        folders = [_open(folder) for folder in folders]
    if last:
        last = _open(last) if _COUNTED.fullmatch(last) else "{id}" if _OPAQUE.fullmatch(last) else "*"
    pattern = "/".join(("", *folders, last))
    if query:
        names = sorted({parameter.partition("=")[0] for parameter in query.split("&") if parameter})
        more = ["..."] if len(names) > MOST_NAMES else []
        pattern += f"?{'&'.join(names[:MOST_NAMES] + more)}"
    return pattern if len(pattern) <= LONGEST else f"{pattern[:LONGEST]}..."


def _open(segment: str) -> str:
    return "{id}" if _OPAQUE.fullmatch(segment) else _NUMBER.sub("{number}", segment)
