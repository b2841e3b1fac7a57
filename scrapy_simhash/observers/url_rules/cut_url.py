"""Cut URLs: a URL in the parts that rules are about, and the group of URLs that it belongs to."""

from __future__ import annotations

import re
from typing import NamedTuple

from scrapy_simhash.observers.url_rules.groups import groups, rule_group

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
        """What URLs share of which a part may have no effect; see `rule_group`."""
        return rule_group(self.path, self.query)

    @property
    def groups(self) -> tuple[str, ...]:
        """All groups of the URL, see `groups`."""
        return groups(self.path, self.query)


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
