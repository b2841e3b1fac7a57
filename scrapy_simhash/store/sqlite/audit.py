"""Audit: all rows of a file read, and those named that cannot be right."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from scrapy_simhash.page.fingerprint import SKETCH_BYTES
from scrapy_simhash.store.damage import Damage, shown
from scrapy_simhash.store.sqlite.failures import KINDS, is_damage
from scrapy_simhash.store.sqlite.rescue import postings_of
from scrapy_simhash.store.sqlite.statements import MOST_NUMBER

#: Lines of SQLite's own report.
MOST_LINES = 100


def _not_whole(*columns: str) -> str:
    return " OR ".join(f"typeof({column}) <> 'integer'" for column in columns)


#: Rows that cannot be right: what is said of them, and a query that returns the two values it needs.
_QUERIES = (
    (
        "page {} ({})",
        "SELECT number, url FROM pages WHERE typeof(key) <> 'blob' OR typeof(url) NOT IN ('text', 'blob') OR "
        + _not_whole("value", "seen", "run", "content", "rank", "joined")
        + f" OR number NOT BETWEEN 0 AND {MOST_NUMBER - 1}",
    ),
    (
        "content {}, of page {}",
        "SELECT number, page FROM contents WHERE scope NOT IN (SELECT number FROM scopes) OR "
        + _not_whole("page", "scope", "value", "seen", "is_short", "found_by")
        + f" OR number NOT BETWEEN 0 AND {MOST_NUMBER - 1}",
    ),
    (
        "content {}: its page {} is missing",
        "SELECT number, page FROM contents WHERE page NOT IN (SELECT number FROM pages)"
        " AND page NOT IN (SELECT page FROM removed)",
    ),
    (
        "the sketch of content {} has {} bytes",
        f"SELECT content, length(sketch) FROM sketches WHERE length(sketch) <> {SKETCH_BYTES}",
    ),
    (
        "the sketch of content {}, which is missing{}",
        "SELECT content, '' FROM sketches WHERE content NOT IN (SELECT number FROM contents)",
    ),
    (
        "run {}, begun {}",
        "SELECT number, started FROM runs WHERE typeof(started) <> 'integer'"
        " OR typeof(ended) NOT IN ('integer', 'null') OR typeof(reason) NOT IN ('text', 'null')",
    ),
    (
        "the profile of {} has {} bytes",
        # What has a space in its name is no host: other things that were learned, checked by who reads them.
        "SELECT host, length(profile) FROM sites WHERE instr(host, ' ') = 0"
        " AND (length(profile) < 17 OR (length(profile) - 17) % 16)",
    ),
)


def audit(connection: sqlite3.Connection, tell: Callable[[int], None]) -> list[str]:
    """Read everything, and return the names of damaged rows; *tell* hears how many postings were read so far.

    Some thirty seconds for a million pages.
    """
    damage = Damage("", is_logged=False)
    for number, _ in enumerate(postings_of(connection, damage), 1):
        tell(number)
    for form, query in _QUERIES:
        try:
            for row in connection.execute(query):
                damage.note(form.format(*map(shown, row)))
        except KINDS as error:
            _note(error, damage, f"a table ({form.partition(' {')[0]})")
    try:
        for (line,) in connection.execute(f"PRAGMA integrity_check({MOST_LINES})"):
            if line != "ok":
                damage.note(f"the file: {shown(line)}")
    except KINDS as error:
        _note(error, damage, "the file")
    return damage.named


def _note(error: Exception, damage: Damage, what: str) -> None:
    if not is_damage(error):
        raise error
    damage.note(f"{what}: {error}")
