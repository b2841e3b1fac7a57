"""Site lines: what was learned about sites, on its way from one store to another, in an export or without."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from scrapy_simhash.cli import profile_file
from scrapy_simhash.cli.profile_change import profiles_in
from scrapy_simhash.site import SiteProfile
from scrapy_simhash.store import KeepsSites, Store

#: The name in a line by which it is told from a posting; its value is the host.
NAME = "site"


class Site(NamedTuple):
    """A host and its profile."""

    host: str
    profile: SiteProfile


def sites_of(store: Store) -> Iterator[Site]:
    """Yield the profiles of *store*, if it keeps any. A damaged one is left out: it is learned anew."""
    if isinstance(store, KeepsSites):
        for host, data in profiles_in(store):
            with suppress(ValueError):
                yield Site(host, SiteProfile.from_bytes(data))


def site_line(site: Site) -> str:
    """Return the line of a profile in an export."""
    line = {NAME: site.host, **profile_file.values(site.profile), "pinned": site.profile.is_pinned}
    return f"{json.dumps(line)}\n"


def parsed_site(line: Mapping[str, Any]) -> Site:
    """Return the profile in a line. Raises ValueError, which says what is wrong.

    >>> parsed_site(json.loads(site_line(Site("example.com", SiteProfile())))).host
    'example.com'
    """
    host = line[NAME]
    if not isinstance(host, str):
        raise ValueError(f"has a wrong value in {NAME!r}: it is not a string")
    profile = profile_file.profile_in(line, "has a wrong profile")
    profile.is_pinned = line.get("pinned") is True
    return Site(host, profile)


def joined(kept: bytes | None, profile: SiteProfile) -> bytes | None:
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
