"""Hypotheses: which differences between URLs may have no effect on the page. Each class is one.

A rule is a hypothesis and what of the URL it is about, as text: ``parameter sid``, ``index page index.html``.
Hypotheses only take something out of a URL, or write it in one way: they never make a URL that is requested.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import NamedTuple, Protocol

from scrapy_simhash.judge.hints.urls import counts_pages, is_tracking
from scrapy_simhash.observers.url_rules.cut_url import MOST_PARAMETERS, CutUrl

#: Characters of a value up to which it may be one of a few values that a site uses.
_LONGEST_VALUE = 24
_INDEX = re.compile(r"/((?:index|default)\.\w{2,5})", re.ASCII | re.IGNORECASE)
_SESSION = re.compile(r";(\w{2,20})=([\w.!-]{8,})|/\(S\((\w{8,})\)\)", re.ASCII)
_OPAQUE = re.compile(
    r"(?<=/)(?=[0-9A-Za-z]{20})(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[0-9A-Za-z]{20,}(?=/)", re.ASCII
)
#: What a path has in which one of the two below may be found.
_MAY_HAVE_ID = re.compile(r"/\d{2,12}[/_-]|[-_]\d{4,12}(?:\.|/?\Z)", re.ASCII)
_MAY_BE_VIEW = re.compile(r"(?:^|/)(?:print|drucken|imprimi|stampa|m|mobile|amp)", re.IGNORECASE)
_VIEWS = frozenset("print printable printer drucken imprimir imprimer stampa m mobile amp".split())
#: ``/7/the-ferry``, ``/7-the-ferry`` and ``/the-ferry-7.html``: an id, and words or a date beside it.
_ID_FIRST = re.compile(r"(.*/\d{2,12})(?:/|[-_])([^/]*[A-Za-z][^/]*)/?", re.ASCII)
_ID_LAST = re.compile(r"(.*/)([^/]*[A-Za-z][^/]*?)([-_]\d{4,12}(?:\.\w{2,5})?)/?", re.ASCII)
#: Parameters that say on most sites who asks, from where, or when; on others they choose what is shown.
_OFTEN_IDLE = frozenset(
    "_t cachebuster campaign cb nocache ref referer referrer scm sess sessid session session_id sessionid sid source"
    " spm timestamp trk ts".split()
)


class Difference(NamedTuple):
    """What a hypothesis takes out of one URL."""

    rule: str
    """The hypothesis, and what it is about on the host."""
    value: str
    """What the URL had there; URLs without it have the empty string."""
    url: CutUrl
    """The URL without it."""


class Hypothesis(Protocol):
    """A kind of difference that may have no effect."""

    name: str
    """Words for it: how its rules begin."""
    has_many_values: bool
    """Whether there may be any number of values; else a URL has it or not."""

    def of(self, url: CutUrl) -> Sequence[Difference]:
        """Return what may have no effect in *url*."""

    def without(self, url: CutUrl, about: str) -> CutUrl:
        """Return *url* without what a rule is *about*; the same URL if it has none of it."""


class Parameter:
    """The value of a parameter has no effect, nor whether it is there; or the values of several that always change.

    Parameters that count pages are never looked at: the text around the links of a listing is often the same.
    """

    name = "parameter"
    has_many_values = True

    def of(self, url: CutUrl) -> Sequence[Difference]:
        """See `Hypothesis`."""
        if len(url.query) > MOST_PARAMETERS:
            return ()
        names = url.names
        found = []
        for index, name in enumerate(names):
            if not name or counts_pages(name):
                continue
            if names.count(name) == 1:
                shorter = CutUrl(url.scheme, url.host, url.path, url.query[:index] + url.query[index + 1 :])
                found.append(Difference(f"{self.name} {name}", url.query[index], shorter))
            elif names.index(name) == index:
                found.append(self.difference(url, name))
        return found

    def difference(self, url: CutUrl, about: str) -> Difference:
        """Return what is taken out with the parameters *about*, names with commas between."""
        names = about.split(",")
        dropped: list[str] = []
        kept: list[str] = []
        for part in url.query:
            (dropped if part.partition("=")[0] in names else kept).append(part)
        shorter = CutUrl(url.scheme, url.host, url.path, tuple(kept))
        return Difference(f"{self.name} {about}", "&".join(dropped), shorter)

    def without(self, url: CutUrl, about: str) -> CutUrl:
        """See `Hypothesis`."""
        if not url.query:
            return url
        names = about.split(",")
        kept = tuple([part for part in url.query if part.partition("=")[0] not in names])
        return url if len(kept) == len(url.query) else CutUrl(url.scheme, url.host, url.path, kept)


class ParameterValue:
    """One value of a parameter has the effect of no such parameter: ``page=1``, ``sort=default``."""

    name = "value"
    has_many_values = False

    def of(self, url: CutUrl) -> Sequence[Difference]:
        """See `Hypothesis`."""
        if len(url.query) > MOST_PARAMETERS:
            return ()
        found = []
        for part in url.query:
            # What counts pages may have one such value only, the first.
            name, _, value = part.partition("=")
            if value and len(value) <= _LONGEST_VALUE and (value in "01" or not counts_pages(name)):
                found.append(Difference(f"{self.name} {part}", part, self.without(url, part)))
        return found

    def without(self, url: CutUrl, about: str) -> CutUrl:
        """See `Hypothesis`."""
        kept = tuple([part for part in url.query if part != about])
        return url if len(kept) == len(url.query) else CutUrl(url.scheme, url.host, url.path, kept)


class ParameterOrder:
    """The order of the parameters has no effect."""

    name = "order of parameters"
    has_many_values = False

    def of(self, url: CutUrl) -> Sequence[Difference]:
        """See `Hypothesis`."""
        ordered = self.without(url, "")
        return [Difference(self.name, "&".join(url.names), ordered)] if ordered is not url else ()

    def without(self, url: CutUrl, about: str) -> CutUrl:
        """See `Hypothesis`."""
        if len(url.query) < 2:
            return url
        names = url.names
        if sorted(names) == names:
            return url
        # Several values of one name keep theirs.
        ordered = tuple(sorted(url.query, key=lambda part: part.partition("=")[0]))
        return CutUrl(url.scheme, url.host, url.path, ordered)


class PathSession:
    """A session id in the path has no effect."""

    name = "session in path"
    has_many_values = True

    def of(self, url: CutUrl) -> Sequence[Difference]:
        """See `Hypothesis`."""
        path, found = url.path, []
        if (";" in path or "(S(" in path) and (session := _SESSION.search(path)):
            found.append(Difference(self.name, session[0], self.without(url, "")))
        if len(path) > 20 and (opaque := _OPAQUE.search(path)):
            found.append(
                Difference(f"{self.name} opaque segment", opaque[0], self.without(url, "opaque segment"))
            )
        return found

    def without(self, url: CutUrl, about: str) -> CutUrl:
        """See `Hypothesis`."""
        return url._replace(path=(_OPAQUE if about else _SESSION).sub("", url.path))


class BesideId:
    """Words or a date beside an id have no effect: the id decides alone."""

    name = "words beside id"
    has_many_values = True

    def of(self, url: CutUrl) -> Sequence[Difference]:
        """See `Hypothesis`."""
        if not _MAY_HAVE_ID.search(url.path):
            return ()
        for about, pattern in (("after", _ID_FIRST), ("before", _ID_LAST)):
            if found := pattern.fullmatch(url.path):
                return [Difference(f"{self.name} {about}", found[2], self.without(url, about))]
        return ()

    def without(self, url: CutUrl, about: str) -> CutUrl:
        """See `Hypothesis`."""
        found = (_ID_FIRST if about == "after" else _ID_LAST).fullmatch(url.path)
        if found is None:
            return url
        return url._replace(path=found[1] if about == "after" else found[1] + found[3])


class View:
    """A print view or a view for phones, below a folder of its own or at its end, says what the page says."""

    name = "view"
    has_many_values = False

    def of(self, url: CutUrl) -> Sequence[Difference]:
        """See `Hypothesis`."""
        if not _MAY_BE_VIEW.search(url.path):
            return ()
        segments = url.path.strip("/").split("/")
        if len(segments) < 2:
            return ()
        for about, word in (("/{}/", segments[0]), ("/{}", segments[-1])):
            if word.lower() in _VIEWS:
                about = about.format(word)
                return [Difference(f"{self.name} {about}", word, self.without(url, about))]
        return ()

    def without(self, url: CutUrl, about: str) -> CutUrl:
        """See `Hypothesis`."""
        if about.endswith("/"):
            return url._replace(path=url.path[len(about) - 1 :]) if url.path.startswith(about) else url
        path = url.path.rstrip("/")
        return url._replace(path=path.removesuffix(about)) if path.endswith(about) else url


class IndexPage:
    """The name of an index page at the end of a path has no effect."""

    name = "index page"
    has_many_values = False

    def of(self, url: CutUrl) -> Sequence[Difference]:
        """See `Hypothesis`."""
        if url.path[-1] == "/":
            return ()
        found = _INDEX.fullmatch(url.path, url.path.rfind("/"))
        return [Difference(f"{self.name} {found[1]}", found[1], self.without(url, found[1]))] if found else ()

    def without(self, url: CutUrl, about: str) -> CutUrl:
        """See `Hypothesis`."""
        return url._replace(path=url.path.removesuffix(about)) if url.path.endswith(f"/{about}") else url


class Slash:
    """A slash at the end of the path has no effect."""

    name = "slash at end"
    has_many_values = False

    def of(self, url: CutUrl) -> Sequence[Difference]:
        """See `Hypothesis`."""
        is_so = len(url.path) > 1 and url.path.endswith("/")
        return [Difference(self.name, "/", self.without(url, ""))] if is_so else ()

    def without(self, url: CutUrl, about: str) -> CutUrl:
        """See `Hypothesis`."""
        return url._replace(path=url.path.rstrip("/") or "/")


class Case:
    """Upper and lower case have no effect in the path."""

    name = "case of path"
    has_many_values = False

    def of(self, url: CutUrl) -> Sequence[Difference]:
        """See `Hypothesis`."""
        lower = url.path.lower()
        return [Difference(self.name, url.path, url._replace(path=lower))] if lower != url.path else ()

    def without(self, url: CutUrl, about: str) -> CutUrl:
        """See `Hypothesis`."""
        return url._replace(path=url.path.lower())


class Scheme:
    """``http`` and ``https`` show the same page."""

    name = "scheme"
    has_many_values = False

    def of(self, url: CutUrl) -> Sequence[Difference]:
        """See `Hypothesis`."""
        return [Difference(self.name, "http", self.without(url, ""))] if url.scheme == "http" else ()

    def without(self, url: CutUrl, about: str) -> CutUrl:
        """See `Hypothesis`."""
        return url._replace(scheme="https")


class Www:
    """The host shows the same page with and without ``www.`` before its name."""

    name = "www"
    has_many_values = False

    def of(self, url: CutUrl) -> Sequence[Difference]:
        """See `Hypothesis`."""
        return [Difference(self.name, "www.", self.without(url, ""))] if url.host.startswith("www.") else ()

    def without(self, url: CutUrl, about: str) -> CutUrl:
        """See `Hypothesis`."""
        return url._replace(host=url.host.removeprefix("www."))


PARAMETER = Parameter()
PARAMETER_VALUE = ParameterValue()
HYPOTHESES: tuple[Hypothesis, ...] = (
    PARAMETER,
    PARAMETER_VALUE,
    ParameterOrder(),
    PathSession(),
    BesideId(),
    View(),
    IndexPage(),
    Slash(),
    Case(),
    Scheme(),
    Www(),
)


def hypothesis_of(rule: str) -> tuple[Hypothesis, str]:
    """Return the hypothesis of *rule*, and what it is about. Raises ValueError for the text of no rule.

    >>> hypothesis_of("parameter sid")[1]
    'sid'
    """
    for hypothesis in HYPOTHESES:
        if rule == hypothesis.name or rule.startswith(f"{hypothesis.name} "):
            return hypothesis, rule[len(hypothesis.name) + 1 :]
    raise ValueError(f"not a URL rule: {rule!r}")


def covers(rule: str, others: Set[str]) -> bool:
    """Tell whether one of *others* takes out all that *rule* does.

    >>> covers("value sort=new", {"parameter sort"}), covers("parameter sid,ts", {"parameter sid", "parameter ts"})
    (True, True)
    """
    hypothesis, about = hypothesis_of(rule)
    if isinstance(hypothesis, ParameterValue):
        return f"{PARAMETER.name} {about.partition('=')[0]}" in others
    return "," in about and all(f"{PARAMETER.name} {name}" in others for name in about.split(","))


def prior(rule: str) -> int:
    """Return for how many pairs of pages it counts that *rule* is known from other sites: never enough to act.

    >>> [prior(f"parameter {names}") for names in ("utm_source", "sid", "sid,utm_source", "id")]
    [14, 7, 7, 0]
    """
    hypothesis, about = hypothesis_of(rule)
    return min(map(_prior_of_name, about.split(","))) if hypothesis is PARAMETER else 0


def _prior_of_name(name: str) -> int:
    return 14 if is_tracking(name) else 7 * (name.lower() in _OFTEN_IDLE)
