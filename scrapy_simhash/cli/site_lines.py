"""Site lines: what was learned about sites, on its way from one store to another, in an export or without."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from scrapy_simhash.cli import profile_file
from scrapy_simhash.observers import url_rules
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store import KeepsSites, Store

#: The name in a line by which it is told from a posting; its value is the host.
NAME = "site"
#: The names in a line with URL rules: the rules with their evidence, and in which groups of URLs pages differed.
_RULES, _WRONG = "url_rules", "wrong"


class Site(NamedTuple):
    """A host, and what was learned about it: a profile, or URL rules as a store keeps them."""

    host: str
    learned: SiteProfile | bytes

    @property
    def place(self) -> str:
        """The name under which a store keeps it."""
        return url_rules.place_of_site(self.host) if isinstance(self.learned, bytes) else self.host

    def joined(self, kept: bytes | None) -> bytes | None:
        """Return what a store that has *kept* some keeps once it has learned this too; None if nothing changes."""
        if isinstance(self.learned, bytes):
            return url_rules.joined(kept, self.learned)
        return _joined_profile(kept, self.learned)


def sites_of(store: Store) -> Iterator[Site]:
    """Yield what *store* has learned about sites, if it keeps such. Damaged ones are learned anew: left out."""
    if isinstance(store, KeepsSites):
        for place, data in store.sites():
            with suppress(ValueError):
                if (host := url_rules.site_at(place)) is None:
                    yield Site(place, SiteProfile.from_bytes(data))
                elif url_rules.parsed(data):
                    yield Site(host, data)


def site_line(site: Site) -> str:
    """Return the line of a site in an export."""
    if isinstance(site.learned, bytes):
        kept = url_rules.parsed(site.learned)
        return f"{json.dumps({NAME: site.host, _RULES: kept['rules'], _WRONG: kept['wrong']})}\n"
    line = {NAME: site.host, **profile_file.values(site.learned), "pinned": site.learned.is_pinned}
    return f"{json.dumps(line)}\n"


def parsed_site(line: Mapping[str, Any]) -> Site:
    """Return the profile or the URL rules in a line. Raises ValueError, which says what is wrong.

    >>> parsed_site(json.loads(site_line(Site("example.com", SiteProfile())))).host
    'example.com'
    """
    host = line[NAME]
    if not isinstance(host, str):
        raise ValueError(f"has a wrong value in {NAME!r}: it is not a string")
    if _RULES in line:
        try:
            # Which groups of URLs bring nothing new is no rule for other crawls.
            data = url_rules.packed(line[_RULES], line.get(_WRONG, {}), {})
            url_rules.parsed(data)
        except ValueError as error:
            raise ValueError(f"has wrong URL rules: {error}") from error
        return Site(host, data)
    profile = profile_file.profile_in(line, "has a wrong profile")
    profile.is_pinned = line.get("pinned") is True
    return Site(host, profile)


def _joined_profile(kept: bytes | None, profile: SiteProfile) -> bytes | None:
    """Return what a store keeps of a host once it has learned what is in *profile*; None if that changes nothing.

    It counts subjects of pages, whoever met them, so that the same profile again adds nothing. A pinned one in the
    store stays as it is; a pinned one that comes takes its place.
    """
    own = SiteProfile()
    if kept is not None:
        # A damaged profile is learned anew.
        with suppress(ValueError):
            own = SiteProfile.from_bytes(kept)
    if own.is_pinned:
        return None
    before = own.subject_bits, sorted(own.pieces())
    own.join(profile.to_bytes())
    is_same = not own.is_pinned and before == (own.subject_bits, sorted(own.pieces()))
    return None if is_same and kept is not None else own.to_bytes()
