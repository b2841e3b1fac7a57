"""Profile change: the profile of a host in a store, exported, replaced by an imported one, pinned."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from scrapy_simhash.cli import output, profile_file
from scrapy_simhash.cli.explanation import shown
from scrapy_simhash.cli.failures import Failed, Refused
from scrapy_simhash.cli.input import opened
from scrapy_simhash.cli.places import Place
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store import KeepsSites, Store

#: What a run is called in which a profile was changed.
DOING = "profile"


def keeper(store: Store, place: Place) -> KeepsSites:
    """Return *store* as one that keeps profiles. Raises Refused if it keeps none."""
    if not isinstance(store, KeepsSites):
        raise Refused(f"{place.shown} keeps no site profiles: stores in an SQLite file and in Redis do")
    return store


def profiles_in(store: KeepsSites) -> Iterator[tuple[str, bytes]]:
    """Yield the hosts with their profiles; what else a store keeps of hosts has a space in its name."""
    return ((host, data) for host, data in store.sites() if " " not in host)


def profile_of(host: str, data: bytes, place: Place) -> SiteProfile:
    """Return the profile of *host* that the store has as *data*. Raises Failed if it is damaged."""
    try:
        return SiteProfile.from_bytes(data)
    except ValueError as error:
        raise Failed(f"{place.shown}: the profile of {shown(host)} is damaged: {error}") from error


def load(store: KeepsSites, host: str, place: Place) -> SiteProfile:
    """Return the profile of *host*. Raises Failed if there is none, or if it is damaged."""
    data = store.load_site(host)
    if data is None:
        raise Failed(f"{place.shown} has no profile of {shown(host)}; without HOST, profile lists all hosts")
    return profile_of(host, data, place)


def export(place: Place, host: str, path: str) -> None:
    """Write the profile of *host* to the file at *path*."""
    with place.reading() as store:
        profile, scheme = load(keeper(store, place), host, place), store.header.scheme
    with output.opened(path) as file:
        file.write(profile_file.lines(host, profile, scheme))


def change(place: Place, host: str, options: Namespace) -> None:
    """Import the profile of *host*, pin it or unpin it, in a run of the store, which a project may have to make."""
    header = place.header() or (options.project and options.project.header_for(place))
    if header is None:
        # Says why, if it cannot be opened.
        with place.reading() as store:
            header = store.header
    profile = None
    if options.import_ is not None:
        with opened(options.import_) as given:
            profile = profile_file.read(given, header.scheme)
    if profile is None or place.exists():
        # Before a run begins.
        with place.reading() as store:
            sites = keeper(store, place)
            if profile is None:
                load(sites, host, place)
    with place.claiming(header, DOING) as store:
        sites = keeper(store, place)
        profile = profile or load(sites, host, place)
        profile.is_pinned = options.pin
        sites.keep_sites([(host, profile.to_bytes())])
