"""Hypotheses: which differences between URLs may have no effect on the page.

A rule is a hypothesis and what of the URL it is about, as text: ``parameter sid``, ``index page index.html``.
Hypotheses only take something out of a URL, or write it in one way: they never make a URL that is requested.

======================= ====================================================================================
``parameter sid``       the value of a parameter, or whether it is there; ``sid,ts``: several that always change
``session in path``     a session id: ``;jsessionid=...``, ``/(S(...))``, or (``opaque segment``) a long digest
``words beside id``     words or a date ``after`` or ``before`` an id that decides alone: ``/7/the-ferry``
``order of parameters`` in which order they come
``view /print/``        a print view or a view for phones, below a folder of its own or (``/print``) at the end
``index page``          the name of an index page at the end of the path
``slash at end``        a slash at the end of the path
``case of path``        upper and lower case
``scheme``              ``http`` or ``https``
``www``                 whether the host is written with ``www.``
``value page=1``        one value of a parameter that has the effect of no such parameter
======================= ====================================================================================

Parameters that count pages are never looked at: the text around the links of a listing is often the same. But one
value of them, the first, may be as good as none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from typing import NamedTuple

from scrapy_simhash.judge.hints.urls import counts_pages, is_tracking
from scrapy_simhash.observers.url_rules.cut_url import MOST_PARAMETERS, CutUrl

#: Characters of a value up to which it may be one of a few values that a site uses.
_LONGEST_VALUE = 24
_INDEX = re.compile(r"/((?:index|default)\.\w{2,5})", re.ASCII | re.IGNORECASE)
#: By what a rule is about: a session id as servers write it, or a long digest.
_SESSIONS = {
    "": re.compile(r";(\w{2,20})=([\w.!-]{8,})|/\(S\((\w{8,})\)\)", re.ASCII),
    "opaque segment": re.compile(
        r"(?<=/)(?=[0-9A-Za-z]{20})(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[0-9A-Za-z]{20,}(?=/)", re.ASCII
    ),
}
_VIEWS = frozenset("print printable printer drucken imprimir imprimer stampa m mobile amp".split())
#: ``/7/the-ferry``, ``/7-the-ferry`` and ``/the-ferry-7.html``: an id, and words or a date beside it.
_BESIDE_ID = {
    "after": re.compile(r"(.*/\d{2,12})(?:/|[-_])([^/]*[A-Za-z][^/]*)()/?", re.ASCII),
    "before": re.compile(r"(.*/)([^/]*[A-Za-z][^/]*?)([-_]\d{4,12}(?:\.\w{2,5})?)/?", re.ASCII),
}
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


class Hypothesis(NamedTuple):
    """A kind of difference that may have no effect."""

    name: str
    """Words for it: how its rules begin."""
    sign: str
    """What scheme, host and path have somewhere if it may be true of a URL; empty if it is about parameters."""
    without: Callable[[CutUrl, str], CutUrl]
    """Returns a URL without what a rule is about; an equal URL if it has none of it."""
    found_in: Callable[[CutUrl], Iterable[tuple[str, str]]] | None = None
    """Returns what its rules may be about in a URL, with the value there; None if it has one rule on a host."""
    has_many_values: bool = False
    """Whether there may be any number of values; else a URL has it or not."""

    def of(self, url: CutUrl) -> list[Difference]:
        """Return what may have no effect in *url*."""
        if self.found_in is None:
            shorter = self.without(url, "")
            return [Difference(self.name, "", shorter)] if shorter != url else []
        return [self.difference(url, about, value) for about, value in self.found_in(url)]

    def difference(self, url: CutUrl, about: str, value: str) -> Difference:
        """Return what is taken out of *url* that a rule is *about*, which has *value* there."""
        return Difference(f"{self.name} {about}" if about else self.name, value, self.without(url, about))


def _with_path(url: CutUrl, path: str) -> CutUrl:
    return CutUrl(url.scheme, url.host, path, url.query)


def _with_query(url: CutUrl, query: Iterable[str]) -> CutUrl:
    return CutUrl(url.scheme, url.host, url.path, tuple(query))


def values_of(url: CutUrl, names: Iterable[str]) -> str:
    """Return the parameters of *url* that have one of these *names*, as written."""
    return "&".join([part for part in url.query if part.partition("=")[0] in names])


def _parameters(url: CutUrl) -> Iterable[tuple[str, str]]:
    if len(url.query) > MOST_PARAMETERS:
        return ()
    # In a rule, commas are between the names of several.
    return [
        (name, values_of(url, (name,)))
        for name in dict.fromkeys(url.names)
        if name and "," not in name and not counts_pages(name)
    ]


def _without_parameters(url: CutUrl, about: str) -> CutUrl:
    names = about.split(",")
    return _with_query(url, [part for part in url.query if part.partition("=")[0] not in names])


def _values(url: CutUrl) -> Iterable[tuple[str, str]]:
    if len(url.query) > MOST_PARAMETERS:
        return
    for part in url.query:
        name, _, value = part.partition("=")
        if value and len(value) <= _LONGEST_VALUE and (value in "01" or not counts_pages(name)):
            yield part, part


def _without_value(url: CutUrl, about: str) -> CutUrl:
    return _with_query(url, [part for part in url.query if part != about])


def _in_order(url: CutUrl, about: str) -> CutUrl:
    # Several values of one name keep their order.
    return _with_query(url, sorted(url.query, key=lambda part: part.partition("=")[0]))


def _sessions(url: CutUrl) -> Iterable[tuple[str, str]]:
    for about, pattern in _SESSIONS.items():
        if found := pattern.search(url.path):
            yield about, found[0]


def _without_session(url: CutUrl, about: str) -> CutUrl:
    return _with_path(url, _SESSIONS[about].sub("", url.path))


def _words(url: CutUrl) -> Iterable[tuple[str, str]]:
    for about, pattern in _BESIDE_ID.items():
        if found := pattern.fullmatch(url.path):
            yield about, found[2]
            return


def _without_words(url: CutUrl, about: str) -> CutUrl:
    found = _BESIDE_ID[about].fullmatch(url.path)
    return url if found is None else _with_path(url, found[1] + found[3])


def _views(url: CutUrl) -> Iterable[tuple[str, str]]:
    first, _, rest = url.path.strip("/").partition("/")
    last = rest.rpartition("/")[2]
    if rest and first.lower() in _VIEWS:
        yield f"/{first}/", first
    elif last.lower() in _VIEWS:
        yield f"/{last}", last


def _without_view(url: CutUrl, about: str) -> CutUrl:
    if about.endswith("/"):
        return _with_path(url, url.path[len(about) - 1 :]) if url.path.startswith(about) else url
    path = url.path.rstrip("/")
    return _with_path(url, path.removesuffix(about)) if path.endswith(about) else url


def _index_pages(url: CutUrl) -> Iterable[tuple[str, str]]:
    found = _INDEX.fullmatch(url.path, url.path.rfind("/"))
    return [(found[1], found[1])] if found else ()


def _without_index_page(url: CutUrl, about: str) -> CutUrl:
    return _with_path(url, url.path.removesuffix(about)) if url.path.endswith(f"/{about}") else url


def _without_slash(url: CutUrl, about: str) -> CutUrl:
    return _with_path(url, url.path.rstrip("/") or "/")


def _in_lower_case(url: CutUrl, about: str) -> CutUrl:
    return _with_path(url, url.path.lower())


def _with_https(url: CutUrl, about: str) -> CutUrl:
    return CutUrl("https", url.host, url.path, url.query)


def _without_www(url: CutUrl, about: str) -> CutUrl:
    return CutUrl(url.scheme, url.host.removeprefix("www."), url.path, url.query)


PARAMETER = Hypothesis("parameter", "", _without_parameters, _parameters, has_many_values=True)
PARAMETER_VALUE = Hypothesis("value", "", _without_value, _values)
_SESSION = Hypothesis(
    "session in path", r";|/\(S\(|/[0-9A-Za-z]{20,}/", _without_session, _sessions, has_many_values=True
)
_BESIDE = Hypothesis(
    "words beside id", r"/\d{2,12}[/_-]|[-_]\d{4,12}(?:\.|/?\Z)", _without_words, _words, has_many_values=True
)
#: In the order in which they are tried.
HYPOTHESES = (
    PARAMETER,
    _SESSION,
    _BESIDE,
    Hypothesis("order of parameters", "", _in_order),
    Hypothesis("view", rf"(?i:/(?:{'|'.join(_VIEWS)})(?:/|\Z))", _without_view, _views),
    Hypothesis("index page", r"(?i:/(?:index|default)\.\w{2,5}\Z)", _without_index_page, _index_pages),
    Hypothesis("slash at end", r"(?<=.)/\Z", _without_slash),
    Hypothesis("case of path", r"[A-Z\x80-\U0010ffff]", _in_lower_case),
    Hypothesis("scheme", r"\Ahttp:", _with_https),
    Hypothesis("www", r"\Ahttps?://www\.", _without_www),
    PARAMETER_VALUE,
)
_SIGNS = [(hypothesis, re.compile(hypothesis.sign, re.ASCII)) for hypothesis in HYPOTHESES]
#: Those that paths have nothing to do with: their signs are at the beginning.
_NOT_OF_PATH = [(each, sign) for each, sign in _SIGNS if not each.sign or each.sign.startswith(r"\A")]
#: Finds in a path what a hypothesis about paths may be true of.
has_sign = re.compile(
    "|".join([each.sign for each, sign in _SIGNS if (each, sign) not in _NOT_OF_PATH]), re.ASCII
).search


def hypotheses_about(url: CutUrl) -> list[Hypothesis]:
    """Return the hypotheses that may be true of *url*."""
    scheme, host, path, query = url
    signs = _SIGNS if has_sign(path) else _NOT_OF_PATH
    text = f"{scheme}://{host}{path}"
    return [each for each, sign in signs if (sign.search(text) if each.sign else query)]


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
    if hypothesis is PARAMETER_VALUE:
        return f"{PARAMETER.name} {about.partition('=')[0]}" in others
    return "," in about and all(f"{PARAMETER.name} {name}" in others for name in about.split(","))


def prior(rule: str) -> int:
    """Return for how many pairs of pages it counts that *rule* is known from other sites: never enough to act.

    >>> [prior(f"parameter {names}") for names in ("utm_source", "sid", "sid,utm_source", "id")]
    [14, 7, 7, 0]
    """
    hypothesis, about = hypothesis_of(rule)
    if hypothesis is not PARAMETER:
        return 0
    return min(14 if is_tracking(name) else 7 * (name.lower() in _OFTEN_IDLE) for name in about.split(","))
