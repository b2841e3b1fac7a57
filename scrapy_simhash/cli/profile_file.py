"""Profile file: the profile of one site as JSON, to be kept, looked at, and imported into another store."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from scrapy_simhash.cli.failures import Refused, failing
from scrapy_simhash.cli.input import Input
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.page.site.profile import BUCKET, MOST_BUCKETS
from scrapy_simhash.times import parsed, written

KIND = "scrapy-simhash site profile"
VERSION = 1
#: A profile has no more pieces; a file of these has some 180 KB.
MOST_PIECES = BUCKET * MOST_BUCKETS
MOST_BYTES = 1_000_000
_HEX = re.compile("[0-9a-f]{16}")
_MOST = 2**32 - 1


def lines(host: str, profile: SiteProfile, scheme: str) -> Iterator[str]:
    """Yield the lines of the file. Whether the profile is pinned belongs to the store, and is not in there."""
    facts = {
        "kind": KIND,
        "version": VERSION,
        "scheme": scheme,
        "host": host,
        **values(profile),
    }
    yield json.dumps(facts, indent=1) + "\n"


def values(profile: SiteProfile) -> dict[str, Any]:
    """Return what was learned, as JSON has it."""
    return {
        "pages": profile.pages,
        "since": written(profile.since) if profile.since else None,
        "subjects": f"{profile.subject_bits:016x}",
        "pieces": {f"{key:016x}": f"{subjects:016x}" for key, subjects in profile.pieces()},
    }


def read(given: Input, scheme: str) -> SiteProfile:
    """Return the profile in a file, for a store with fingerprints of *scheme*.

    Raises Refused for anything else than lines() has written, Failed if it cannot be read.
    """
    with failing(f"read {given.source}"):
        data = given.stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise Refused(f"{given.name} is no profile: it has more than {MOST_BYTES:,} bytes")
    try:
        facts = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{given.name} is no profile: it is not JSON ({error})") from error
    if not isinstance(facts, dict) or facts.get("kind") != KIND:
        raise Refused(f'{given.name} is no profile: it has no "kind": "{KIND}"')
    if facts.get("version") != VERSION:
        raise Refused(
            f"{given.name} has version {facts.get('version')!r} of a profile; this program reads {VERSION}"
        )
    if facts.get("scheme") != scheme:
        raise Refused(
            f"{given.name} was made with the scheme {facts.get('scheme')!r}, and the store has {scheme!r}: crawl some"
            " pages of the host again with this version"
        )
    return profile_in(facts, given.name)


def profile_in(facts: Mapping[str, Any], name: str) -> SiteProfile:
    """Return the profile that values() gave. Raises Refused, which names *name*, for anything else."""

    def bits(key: str, value: object) -> int:
        if not isinstance(value, str) or not _HEX.fullmatch(value):
            raise Refused(f"{name}: {key} must be 16 hexadecimal digits, got {value!r}")
        return int(value, 16)

    subjects = bits('"subjects"', facts.get("subjects"))
    noted = facts.get("pieces")
    if not isinstance(noted, dict) or len(noted) > MOST_PIECES:
        raise Refused(f'{name}: "pieces" must be an object with at most {MOST_PIECES:,} keys')
    found = [(bits("a piece", key), bits(f"piece {key}", value)) for key, value in noted.items()]
    for key, of_piece in found:
        if not of_piece or of_piece & ~subjects:
            raise Refused(f'{name}: piece {key:016x} must have one of the "subjects" or more, and no others')
    profile = SiteProfile.of_pieces(subjects, found)
    pages, since = facts.get("pages"), facts.get("since")
    if type(pages) is not int or not 0 <= pages <= _MOST:
        raise Refused(f'{name}: "pages" must be a whole number from 0 to {_MOST}, got {pages!r}')
    try:
        profile.since = 0 if since is None else parsed(since)
    except ValueError as error:
        raise Refused(f'{name}: "since" {error}, got {since!r}') from error
    profile.pages = pages
    return profile
