"""URLs in parts, their shapes, and the rules about their differences, in the store and in the settings.

====================================== ==========================================================
``parameter sid in /stories/*``        the value of a parameter, or its presence
``parameter ref,utm_source in /*``     several parameters that always occur together, or all
``order of tags in /shop``             the order of the values of a parameter: ``a,b``, ``f[0]=a&f[1]=b``
``order of segments in /shop/**``      the order of path segments, and of values in a segment
``trap /calendar/{number}/{number}``   no URL of this shape has a new page
====================================== ==========================================================

Without ``in SHAPE`` a rule applies to the whole host.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from scrapy_simhash.judge.hints.urls import counts_pages
from scrapy_simhash.scope import host_of

#: Max characters of a URL that is parsed.
MAX_LENGTH = 2_000
#: Max parameters of a URL to which rules apply.
MAX_PARAMETERS = 16
#: Min occurrences of a folder in a circular path.
CIRCLES = 3

_NUMBER = re.compile("[0-9]+")
# An opaque path segment: a digest or a UUID, with a digit and a letter, or a mix of letters and digits that is not a
# word.
_OPAQUE = re.compile(
    r"(?<=/)(?=[^/0-9]*[0-9])(?=[^/A-Za-z]*[A-Za-z])"
    r"(?:[0-9A-Fa-f]{8,}(?:-[0-9A-Fa-f]{4,}){0,4}|[0-9A-Za-z]{16,})(?![^/])"
)
#: Separators between the values of a parameter, and of a path segment.
_BETWEEN = re.compile(r"%2[Cc]|%3[Bb]|%7[Cc]|%20|[,;|+~:_.-]")
_BETWEEN_IN_PATH = re.compile(r"%2[Cc]|%3[Bb]|%7[Cc]|[,;|+]")
#: The index in the name of a parameter: ``f[0]``.
_INDEX = re.compile(r"(?:\[|%5[Bb])[0-9]*(?:\]|%5[Dd])")
_RULE = re.compile(r"(?P<kind>parameter|order of) (?P<about>\S+)(?: in (?P<shape>/\S*))?|trap (?P<trap>/\S*)")
#: In a rule such as ``order of segments in /shop/**``: the end of the shape, and the word in place of a parameter.
_BELOW = "**"
SEGMENTS = "segments"


class CutUrl(NamedTuple):
    """A URL in parts, without its fragment; the parameters are sorted, as in Scrapy's fingerprint."""

    origin: str
    """Scheme and host."""
    path: str
    """At least ``/``."""
    query: tuple[str, ...]
    """The parameters as written, ``name=value``, sorted, without empty parameters; parameters of the path begin with
    ``;``."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of *query*."""
        return tuple(map(name_of, self.query))


def cut(url: str) -> CutUrl | None:
    """Return *url* in parts; None if it is too long or not a web URL.

    >>> cut("https://example.com/a/b?y&x=1&#top"), cut("https://example.com/a;jsessionid=1?x").query
    (CutUrl(origin='https://example.com', path='/a/b', query=('x=1', 'y')), (';jsessionid=1', 'x'))
    """
    if len(url) > MAX_LENGTH or not url.startswith("http"):
        return None
    base, _, query = url.partition("#")[0].partition("?")
    parameters = query.split("&") if query else []
    if ";" in base:
        path, _, more = base.partition(";")
        if "=" in more and "/" not in more:
            base = path
            parameters += [f";{part}" for part in more.split(";") if part]
    at = base.find("/", 8)
    origin, path = (base[:at], base[at:]) if at > 0 else (base, "/")
    return CutUrl(origin, path, tuple(sorted(filter(None, parameters))) if parameters else ())


def name_of(parameter: str) -> str:
    """Return the name of a parameter; for the number of a first page, the whole parameter.

    So the URLs of a first page with and without its number can be a pair.

    >>> [name_of(parameter) for parameter in ("sid=1", "page=7", "page=1")]
    ['sid', 'page', 'page=1']
    """
    name, _, value = parameter.partition("=")
    return parameter if value in ("0", "1") and counts_pages(name) else name


def site_of(url: str) -> str:
    """Return the host of *url* without its port and without ``www.``.

    >>> site_of("https://www.example.com:8000/a")
    'example.com'
    """
    at = url.find("/", 8)
    return _site_of(url[:at] if at > 0 else url)


@lru_cache(maxsize=1_024)
def _site_of(origin: str) -> str:
    return host_of(origin).removeprefix("www.")


# --- Shapes.


def path_shape(path: str) -> str:
    """Return *path* with placeholders for numbers and opaque segments.

    >>> path_shape("/calendar/2024/05"), path_shape("/files/9f86d081884c"), path_shape("/news/the-ferry")
    ('/calendar/{number}/{number}', '/files/{id}', '/news/the-ferry')
    """
    return _NUMBER.sub("{number}", _OPAQUE.sub("{id}", path))


@lru_cache(maxsize=1_024)
def rule_shape(path: str) -> str:
    """Return the shape of a path for rules about the query: the folder, with placeholders for numbers, and ``*``.

    >>> rule_shape("/shop/7/blue-hat"), rule_shape("/search"), rule_shape("/view.php")
    ('/shop/{number}/*', '/*', '/view.php')
    """
    last = path[path.rfind("/") + 1 :]
    shape = path_shape(path)
    # A file such as view.php is a script, and each script makes a different kind of page.
    return shape if "." in last and not _NUMBER.search(last) else f"{shape[: shape.rfind('/')]}/*"


def trap_shape(url: CutUrl) -> str | None:
    """Return the shape of URLs that may be a trap; None if it would be a single URL, or all pages of a host.

    >>> rests = "/calendar/2024/05", "/news/the-ferry", "/shop?a=1"
    >>> [trap_shape(cut("https://a.example" + rest)) for rest in rests]
    ['/calendar/{number}/{number}', '/news/*', '/shop?*']
    >>> trap_shape(cut("https://a.example/a/b/a/b/a/b")), trap_shape(cut("https://a.example/about"))
    ('/a/** in circles', None)
    """
    path = url.path
    segments = path.split("/")
    if len(segments) - len(set(segments)) >= CIRCLES - 1:
        often = Counter(segment for segment in segments if segment and not _NUMBER.fullmatch(segment))
        if often and max(often.values()) >= CIRCLES:
            return f"/{segments[1]}/** in circles"
    shape = path_shape(path)
    if url.query:
        return f"{shape}?*"
    if "{" not in shape[shape.rfind("/") :]:
        folder = shape[: shape.rfind("/") + 1]
        return f"{folder}*" if len(folder) > 1 else None
    return shape


# --- Rules.


class Rule(NamedTuple):
    """A difference between URLs without an effect on the page, or a shape of URLs without new pages."""

    kind: str
    """``parameter``, ``order of`` or ``trap``."""
    about: str
    """Names of parameters, separated by commas; for a trap, the shape."""
    shape: str = ""
    """The shape of the URLs to which it applies; empty for a whole host, and for a trap."""

    def __str__(self) -> str:
        return f"{self.kind} {self.about}" + (f" in {self.shape}" if self.shape else "")

    def without(self, url: CutUrl) -> CutUrl:
        """Return *url* without the difference, or unchanged if it has no such difference."""
        if self.kind == "parameter":
            names = self.about.split(",")
            left = tuple([part for part in url.query if name_of(part) not in names])
            return url if len(left) == len(url.query) else CutUrl(url.origin, url.path, left)
        return _in_order(url, self.about, self.shape.count("/"))


def parsed_rule(text: str) -> Rule:
    """Parse a rule. Raises ValueError for any other text.

    >>> parsed_rule("parameter sid in /stories/*"), str(parsed_rule("trap /calendar/{number}"))
    (Rule(kind='parameter', about='sid', shape='/stories/*'), 'trap /calendar/{number}')
    """
    found = _RULE.fullmatch(text.removesuffix(" in circles"))
    if found is None:
        raise ValueError(f"{text!r} is not a URL rule such as 'parameter sid'")
    if found["trap"]:
        return Rule("trap", text.removeprefix("trap "))
    return Rule(found["kind"], found["about"], found["shape"] or "")


def order_rules(url: CutUrl, shape: str) -> list[Rule]:
    """Return the rules about orders that may change *url*; *shape* is its `rule_shape`.

    >>> [str(rule) for rule in order_rules(cut("https://a.example/s/1/b/a?f[1]=x&f[0]=y&t=1,2"), "/s/{number}/b/*")]
    ['order of segments in /s/**', 'order of segments in /s/{number}/**', 'order of f[] in /s/{number}/b/*', \
'order of t in /s/{number}/b/*']
    """
    path = url.path
    has_order = path.count("/") > 2 or _BETWEEN_IN_PATH.search(path)
    rules = segment_rules(shape) if has_order else ()
    about = dict.fromkeys(
        _INDEX.sub("[]", name)
        for name, _, value in (part.partition("=") for part in url.query)
        if _BETWEEN.search(value) or _INDEX.search(name)
    )
    return [*rules, *(Rule("order of", name, shape) for name in about if name != SEGMENTS)]


@lru_cache(maxsize=1_024)
def segment_rules(shape: str) -> tuple[Rule, ...]:
    """Return the rules about the order of the path segments after the first, and after the first two.

    The first segments usually name the list, so their place is fixed.
    """
    folders = shape.split("/")
    starts = ["/".join(folders[:fixed]) for fixed in (2, 3) if len(folders) > fixed]
    return tuple(Rule("order of", SEGMENTS, f"{start}/{_BELOW}") for start in starts)


def _in_order(url: CutUrl, about: str, fixed: int) -> CutUrl:
    """Return *url* with the values of a parameter sorted, or the path segments after the first *fixed* segments."""
    if about == SEGMENTS:
        segments = url.path.split("/")
        rest = [",".join(sorted(_BETWEEN_IN_PATH.split(segment))) for segment in segments[fixed:]]
        path = "/".join([*segments[:fixed], *sorted(rest)])
        return CutUrl(url.origin, path, url.query)
    values: list[str] = []
    others = []
    for part in url.query:
        name, _, value = part.partition("=")
        if _INDEX.sub("[]", name) == about:
            values += _BETWEEN.split(value)
        else:
            others.append(part)
    query = tuple(sorted([*others, f"{about}={','.join(sorted(values))}"])) if values else url.query
    return CutUrl(url.origin, url.path, query)


# --- Rules in the store and in the settings.


class Note(NamedTuple):
    """The active URL rules of a host, as stored for later crawls."""

    active: tuple[Rule, ...] = ()

    def to_bytes(self) -> bytes:
        """Return the note as it is stored.

        >>> Note.from_bytes(Note((parsed_rule("parameter sid"),)).to_bytes()).active[0].about
        'sid'
        """
        return json.dumps(self.to_dict()).encode()

    def to_dict(self) -> dict[str, list[str]]:
        """Return the rules as text."""
        return {"active": [str(rule) for rule in self.active]}

    @classmethod
    def from_bytes(cls, data: bytes | None) -> Note:
        """Return the note in *data*; an empty note for None. Raises ValueError for other bytes."""
        try:
            return cls() if data is None else cls(tuple(map(parsed_rule, json.loads(data)["active"])))
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError("URL rules must be a list of names under 'active'") from error

    def changed(self, *, learned: Iterable[Rule] = (), dropped: Iterable[Rule] = ()) -> Note:
        """Return the note with added and removed rules."""
        active = dict.fromkeys((*self.active, *learned))
        return Note(tuple(rule for rule in active if rule not in set(dropped)))


class Choice(NamedTuple):
    """A rule in the settings, for one host or for all."""

    rule: Rule
    host: str
    """Empty for all hosts."""
    is_forbidden: bool


def choice(text: str) -> Choice:
    """Return the rule in *text*, which may begin with a host. Raises ValueError for other text.

    >>> choice("-example.com: parameter sort")
    Choice(rule=Rule(kind='parameter', about='sort', shape=''), host='example.com', is_forbidden=True)
    """
    host, separator, rule = text.removeprefix("-").rpartition(": ")
    site = site_of(f"http://{host.strip()}") if separator else ""
    return Choice(parsed_rule(rule.strip()), site, text.startswith("-"))
