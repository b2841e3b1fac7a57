"""Cut URLs: a URL in the parts that rules are about, and the groups of URLs that it belongs to.

Groups are what URLs of a host have in common. A rule is tested in one group of a URL, novelty is counted in all.

A URL has a handful of groups, the narrowest first. Two URLs share a group when the same text is among
the groups of both, so a group is found again by making those of a URL, not by trying one after another.

======================================== ==============================================================
``/files/** in circles``                 a path that comes through one folder three times or more
``/shop?colour=red&page={number}``       the path, its numbers and its opaque names left open, and the
                                         query, with those of its values that are words
``/calendar/{number}/{number}``          ... or without a query
``/shop?colour&page``                    ... or the names of its parameters, ``fit[]`` for several
``/shop?*``                              ... or any query
``/stories/*?sid``                       what lies in one folder, with these parameters: `CutUrl.group`
``/stories/*``                           all that lies in one folder, with any query
======================================== ==============================================================
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

#: Length beyond which a group is no use: it would be kept for one URL.
LONGEST_GROUP = 300
#: How often a path comes through a folder before it is said to wind around.
WINDING = 3

_IN_CIRCLES = "/** in circles"
_NUMBER = re.compile(r"[0-9]+")
#: A segment of a path with a number in it.
_NUMBERED = re.compile(r"(?<![^/])[^/0-9]*[0-9][^/]*")
# A digest or a UUID, with a digit and a letter; or a run of letters and digits as no word has one.
_OPAQUE = re.compile(
    r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])(?:[0-9a-f]{8,}(?:-[0-9a-f]{4,}){0,4}|[0-9a-z]{16,})", re.IGNORECASE
)


def path_shape(path: str) -> str:
    """Return *path* with its numbers and its opaque names left open.

    >>> path_shape("/calendar/2024/05"), path_shape("/news/the-ferry")
    ('/calendar/{number}/{number}', '/news/the-ferry')
    """
    return _NUMBERED.sub(_shape_of_match, path)


# Folders come again and again.
_folder_shape = lru_cache(maxsize=1_024)(path_shape)


def grows(group: str) -> bool:
    """Tell whether a machine makes URLs of *group* by itself: it counts, it combines, or it walks in circles.

    >>> grows("/calendar/{number}"), grows("/shop?colour&size"), grows("/stories/*"), grows("/stories/*?print")
    (True, True, False, False)
    """
    path, _, query = group.partition("?")
    return "{" in group or path.endswith(_IN_CIRCLES) or "&" in query or "[]" in query or query == "*"


def _in_folder(folder: str, names: str) -> str:
    return f"{folder}*?{names}" if names else f"{folder}*"


def _names(query: Sequence[str]) -> str:
    """Return the names of the parameters in their order, with ``[]`` for one that comes several times."""
    names = [parameter.partition("=")[0] for parameter in query]
    joined = "&".join(sorted(names))
    if len(set(names)) == len(names) and not _NUMBER.search(joined):
        return joined
    counts = Counter(map(_shape, names))
    return "&".join(name + "[]" * (counts[name] > 1) for name in sorted(counts))


def _shape_of_match(match: re.Match[str]) -> str:
    return _shape(match[0])


def _shape(text: str) -> str:
    """Return a segment or a value with its numbers left open, or all of it if it is opaque."""
    if not _NUMBER.search(text):
        return text
    return "{id}" if _OPAQUE.fullmatch(text) else _NUMBER.sub("{number}", text)


def _is_open(group: str) -> bool:
    """Tell whether more than one URL may have a group without parameters, or with the values of all."""
    return "{" in group or "*" in group


def _winding(segments: list[str]) -> str | None:
    """Return the group of a path that comes through a folder again and again; numbers may well repeat."""
    # Most paths come through no folder twice.
    if len(segments) <= WINDING or len(segments) - len(set(segments)) < WINDING - 1:
        return None
    often = Counter(segment for segment in segments if segment and not _NUMBER.fullmatch(segment))
    return f"/{segments[1]}{_IN_CIRCLES}" if often and max(often.values()) >= WINDING else None


#: A longer URL is not taken apart: no rule is about it.
LONGEST = 2_000
#: Parameters of a URL with more of them are not looked at one by one.
MOST_PARAMETERS = 16
_URL = re.compile(r"(https?)://([^/?#\s\[\]]+)([^?#\s]*)(?:\?([^#\s]*))?(?:#\S*)?", re.ASCII)


class CutUrl(NamedTuple):
    """A URL without its fragment, in parts. `str` puts it together again."""

    scheme: str
    host: str
    """With its port, as written."""
    path: str
    query: tuple[str, ...] = ()
    """The parameters as written, ``name=value``, empty ones left out."""

    def __str__(self) -> str:
        """Return the URL; an empty query has no question mark."""
        query = f"?{'&'.join(self.query)}" if self.query else ""
        return f"{self.scheme}://{self.host}{self.path}{query}"

    @property
    def names(self) -> list[str]:
        """The names of the parameters, in their order."""
        return [parameter.partition("=")[0] for parameter in self.query]

    @property
    def group(self) -> str:
        """What URLs share of which a part may have no effect: the folder, its numbers left open, and the names.

        >>> CutUrl("https", "a.example", "/shop/7/blue-hat", ("sid=1", "colour=2")).group
        '/shop/{number}/*?colour&sid'
        """
        folder = _folder_shape(self.path[: self.path.rfind("/") + 1])
        return _in_folder(folder, _names(self.query) if self.query else "")

    @property
    def groups(self) -> tuple[str, ...]:
        """All groups of the URL, the narrowest first, and never a whole host. Some microseconds.

        None of one that can have no other URL beside it. The order of parameters makes no difference.

        >>> CutUrl("https", "a.example", "/calendar/2024/05", ("view=list", "day=3")).groups
        ('/calendar/{number}/{number}?day={number}&view=list', '/calendar/{number}/{number}?day&view', \
'/calendar/{number}/{number}?*', '/calendar/{number}/*?day&view', '/calendar/{number}/*')
        >>> CutUrl("https", "a.example", "/about").groups, CutUrl("https", "a.example", "/news/the-ferry").groups
        ((), ('/news/*',))
        """
        found = []
        if winding := _winding(self.path.split("/")):
            found.append(winding)
        end = self.path.rfind("/") + 1
        folder = _folder_shape(self.path[:end])
        shape = folder + path_shape(self.path[end:])
        if self.query:
            parameters = sorted({parameter.partition("=")[::2] for parameter in self.query})
            values = "&".join(f"{_shape(name)}={_shape(value)}" for name, value in parameters)
            if _is_open(values) or _is_open(shape):
                found.append(f"{shape}?{values}")
            names = _names(self.query)
            found += [f"{shape}?{names}", f"{shape}?*"]
            if len(folder) > 1:
                found.append(_in_folder(folder, names))
        elif _is_open(shape):
            found.append(shape)
        if len(folder) > 1:
            found.append(_in_folder(folder, ""))
        return tuple([group for group in found if len(group) <= LONGEST_GROUP])


def cut(url: str) -> CutUrl | None:
    """Return *url* in parts, None if it is none of the web, too long, or has an IPv6 host.

    >>> cut("https://example.com/a/b?x=1&&y#top")
    CutUrl(scheme='https', host='example.com', path='/a/b', query=('x=1', 'y'))
    >>> cut("mailto:ann@example.com")
    """
    if len(url) > LONGEST:
        return None
    found = _URL.fullmatch(url)
    if found is None:
        return None
    scheme, host, path, query = found.groups()
    parameters = tuple([part for part in query.split("&") if part]) if query else ()
    return CutUrl(scheme, host, path or "/", parameters)
