"""Link headers: the links that an HTTP response carries in its head, see RFC 8288."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# A name, and a value in quotes or without: each part begins where the one before it cannot go on, so that no
# header takes more than one look at each character.
_PARAMETER = re.compile(r'[\s;]*([^\s=;,"<]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,]*)))?')
#: Parameters of one link that are read.
MAX_PARAMETERS = 50
_ESCAPE = re.compile(r"\\(.)")


class HeaderLink(NamedTuple):
    """One link: where to, and what is said about it."""

    target: str
    """As it is written, relative to the URL of the response."""
    parameters: list[tuple[str, str]]
    """Names in lower case, in their order; a name may come twice."""

    def get(self, name: str) -> str:
        """Return the first value of parameter *name*, empty if there is none."""
        return next((value for known, value in self.parameters if known == name), "")


def links_of(header: str) -> Iterator[HeaderLink]:
    """Yield the links of the value of one ``Link`` header. What cannot be read is passed over.

    >>> [(link.target, link.get("rel")) for link in links_of('</a>; rel="canonical", </b>; REL=next')]
    [('/a', 'canonical'), ('/b', 'next')]
    """
    position = 0
    while (start := header.find("<", position)) >= 0 and (stop := header.find(">", start)) >= 0:
        parameters: list[tuple[str, str]] = []
        position = stop + 1
        while len(parameters) < MAX_PARAMETERS and (match := _PARAMETER.match(header, position)):
            name, quoted, plain = match.groups()
            value = _ESCAPE.sub(r"\1", quoted) if quoted is not None else plain or ""
            parameters.append((name.lower(), value))
            position = match.end()
        yield HeaderLink(header[start + 1 : stop].strip(), parameters)
