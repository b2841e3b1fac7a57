"""Patterns: what URLs have in common when one page comes back under many of them.

A URL has a handful of patterns, the narrowest first. Two URLs share a pattern when the same text is among
the patterns of both, so a pattern is found again by making those of a URL, not by trying one after another.

======================================== ==============================================================
``/calendar/{number}/{number}``          the path, its numbers and its opaque names left open
``/shop?colour=red&page={number}``       ... and the query, with those of its values that are words
``/shop?colour&page``                    ... or the names of its parameters, ``fit[]`` for several
``/shop?*``                              ... or any query
``/stories/*``                           all that lies in one folder, with any query; never the whole host
``/files/** in circles``                 a path that comes through one folder three times or more
======================================== ==============================================================
"""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import urlsplit

#: Length beyond which a pattern is no use: it would be kept for one URL.
LONGEST = 300
#: How often a path comes through a folder before it is said to wind around.
WINDING = 3

_IN_CIRCLES = "/** in circles"
#: A URL that reads as it is written, as nearly all do: its path and its query. To split one takes five times as long.
_PLAIN = re.compile(r"https?://[\w.:@-]+(/[!\"$->@-~]*)?(?:\?([!\"$-~]*))?(?:#[!-~]*)?", re.ASCII)
_NUMBER = re.compile(r"[0-9]+")
#: A segment of a path with a number in it.
_NUMBERED = re.compile(r"(?<![^/])[^/0-9]*[0-9][^/]*")
# A digest or a UUID, with a digit and a letter; or a run of letters and digits as no word has one.
_OPAQUE = re.compile(
    r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])(?:[0-9a-f]{8,}(?:-[0-9a-f]{4,}){0,4}|[0-9a-z]{16,})", re.IGNORECASE
)


def patterns(url: str) -> tuple[str, ...]:
    """Return the patterns of *url*, the narrowest first; none of one that can have no other URL beside it.

    Scheme, host, port and fragment make no difference, nor does the order of parameters. Some microseconds.

    >>> patterns("https://example.com/calendar/2024/05?view=list&day=3")
    ('/calendar/{number}/{number}?day={number}&view=list', '/calendar/{number}/{number}?day&view', \
'/calendar/{number}/{number}?*', '/calendar/{number}/*')
    >>> patterns("https://example.com/about"), patterns("https://example.com/news/the-ferry")
    ((), ('/news/*',))
    """
    try:
        path, query = _path_and_query(url)
    except ValueError:  # "http://[broken"
        return ()
    found = []
    if winding := _winding(path.split("/")):
        found.append(winding)
    path = path_shape(path)
    if query:
        parameters = sorted({parameter.partition("=")[::2] for parameter in query.split("&")})
        values = "&".join(f"{_shape(name)}={_shape(value)}" for name, value in parameters)
        if _is_open(values) or _is_open(path):
            found.append(f"{path}?{values}")
        names = Counter(_shape(name) for name, _ in parameters)
        found.append(f"{path}?{'&'.join(name + '[]' * (names[name] > 1) for name in sorted(names))}")
        found.append(f"{path}?*")
    elif _is_open(path):
        found.append(path)
    folder = path[: path.rfind("/")]
    if "/" in folder and not folder.endswith("/"):
        found.append(f"{folder}/*")
    return tuple([pattern for pattern in found if len(pattern) <= LONGEST])


def path_shape(path: str) -> str:
    """Return *path* with its numbers and its opaque names left open, as in the patterns of its URL.

    >>> path_shape("/calendar/2024/05"), path_shape("/news/the-ferry")
    ('/calendar/{number}/{number}', '/news/the-ferry')
    """
    return _NUMBERED.sub(_shape_of_match, path)


def grows(pattern: str) -> bool:
    """Tell whether a machine makes URLs of *pattern* by itself: it counts, it combines, or it walks in circles.

    >>> grows("/calendar/{number}"), grows("/shop?colour&size"), grows("/stories/*"), grows("/stories/*?print")
    (True, True, False, False)
    """
    path, _, query = pattern.partition("?")
    return "{" in pattern or path.endswith(_IN_CIRCLES) or "&" in query or "[]" in query or query == "*"


def _path_and_query(url: str) -> tuple[str, str]:
    """Return both as urlsplit() does, but ``/`` for an empty path. Raises ValueError for what is no URL."""
    if plain := _PLAIN.fullmatch(url):
        return plain[1] or "/", plain[2] or ""
    parts = urlsplit(url)
    return parts.path or "/", parts.query


def _shape_of_match(match: re.Match[str]) -> str:
    return _shape(match[0])


def _shape(text: str) -> str:
    """Return a segment or a value with its numbers left open, or all of it if it is opaque."""
    if not _NUMBER.search(text):
        return text
    return "{id}" if _OPAQUE.fullmatch(text) else _NUMBER.sub("{number}", text)


def _is_open(pattern: str) -> bool:
    """Tell whether more than one URL may have a pattern without parameters, or with the values of all."""
    return "{" in pattern or "*" in pattern


def _winding(segments: list[str]) -> str | None:
    """Return the pattern of a path that comes through a folder again and again; numbers may well repeat."""
    # Most paths come through no folder twice.
    if len(segments) <= WINDING or len(segments) - len(set(segments)) < WINDING - 1:
        return None
    often = Counter(segment for segment in segments if segment and not _NUMBER.fullmatch(segment))
    return f"/{segments[1]}{_IN_CIRCLES}" if often and max(often.values()) >= WINDING else None
