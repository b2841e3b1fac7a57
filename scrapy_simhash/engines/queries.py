"""The SQL of the steps, as DuckDB and Spark both read it."""

from __future__ import annotations

from collections.abc import Sequence

from scrapy_simhash.engines.bands import BANDS, FOLLOWERS, order_mask
from scrapy_simhash.engines.tables import FINGERPRINTS, VERDICTS

#: The keys of pages: columns of the table ``keys``.
KEY_COLUMNS = (*(f"band{band}" for band in range(BANDS)), "subject")
_OPTIONAL = ("scope", "content_type", "content_language")

# --- From pages to fingerprints.


def pages(columns: Sequence[str], *, is_answered: bool) -> str:
    """Return the query for pages of a table with *columns*: all, or those whose sites have answered."""
    given = [f"pages.{name}" if name in columns else f"CAST(NULL AS STRING) AS {name}" for name in _OPTIONAL]
    page = "html" if "html" in columns else "text"
    answer = "answer FROM simhash_pages JOIN simhash_answers ON simhash_pages.id = simhash_answers.id"
    if not is_answered:
        answer = "CAST(NULL AS BINARY) AS answer FROM simhash_pages"
    return f"SELECT simhash_pages.id, simhash_pages.url, simhash_pages.{page}, {', '.join(given)}, {answer}"


#: What teaches: pages in their order, after what was known before.
LESSONS = """
SELECT host, pieces, sketch, 1 AS turn, id FROM simhash_readings WHERE pieces IS NOT NULL
"""
KNOWN_BEFORE = "UNION ALL SELECT host, profile, CAST(NULL AS BINARY), 0, 0 FROM simhash_sites_before"
#: What is asked of sites: the profile of each comes before its pages.
QUESTIONS = """
SELECT host, id, pieces, 1 AS turn FROM simhash_readings WHERE pieces IS NOT NULL
UNION ALL SELECT host, CAST(NULL AS BIGINT), profile, 0 FROM simhash_sites
"""
_FINGERPRINT = ", ".join(FINGERPRINTS.columns)
AS_READ = f"SELECT {_FINGERPRINT} FROM simhash_readings"
READ_TWICE = f"""
SELECT {_FINGERPRINT} FROM simhash_readings ANTI JOIN simhash_answers ON simhash_readings.id = simhash_answers.id
UNION ALL SELECT {_FINGERPRINT} FROM simhash_readings_again
"""

# --- From fingerprints to candidates. Pages with one content are compared once.

FIRSTS = "SELECT content, min(id) AS id FROM simhash_fingerprints WHERE content IS NOT NULL GROUP BY content"
FOUND_BY_KEYS = """
SELECT simhash_fingerprints.id, scope, value, sketch, own FROM simhash_fingerprints SEMI JOIN simhash_firsts ON simhash_fingerprints.id = simhash_firsts.id
WHERE NOT is_short AND simhash_fingerprints.id > {last}
"""


def buckets(numbers: Sequence[int]) -> str:
    """Return the query for the buckets with more than one page, of the keys with these *numbers*."""
    return _for_each(
        numbers,
        "SELECT {number} AS number, scope, {key} AS bucket, count(*) AS pages FROM simhash_keys WHERE {filled}"
        " GROUP BY scope, {key} HAVING count(*) > 1",
    )


def places(numbers: Sequence[int]) -> str:
    """Return the query for the pages in these buckets, each with its place in the order of its bucket, from 0."""
    return _for_each(
        numbers,
        "SELECT {number} AS number, simhash_keys.scope, bucket, id, value, subject, row_number() OVER"
        " (PARTITION BY simhash_keys.scope, bucket ORDER BY value & {mask}, value, id) - 1 AS place"
        " FROM simhash_keys JOIN simhash_buckets ON simhash_buckets.number = {number} AND simhash_keys.scope = simhash_buckets.scope AND simhash_keys.{key} = bucket",
    )


def _for_each(numbers: Sequence[int], query: str) -> str:
    # The subject has another type than the bands: as text all are one column.
    return " UNION ALL ".join(
        query.format(
            number=number,
            key=KEY_COLUMNS[number],
            filled="subject IS NOT NULL" if number == BANDS else f"{KEY_COLUMNS[number]} <> 0",
            mask=order_mask(number),
        )
        for number in numbers
    )


#: Pages of a bucket with those that follow them, if the rule can find them near: within reach, or by their subject.
#: Buckets are cut into blocks: each page meets those of its own and of the next one.
CANDIDATES = f"""
SELECT DISTINCT least(one.id, other.id) AS a, greatest(one.id, other.id) AS b
FROM (SELECT *, place - place % {FOLLOWERS} AS block FROM simhash_places) AS one
JOIN (
    SELECT *, place - place % {FOLLOWERS} AS block FROM simhash_places
    UNION ALL SELECT *, place - place % {FOLLOWERS} - {FOLLOWERS} FROM simhash_places
) AS other
ON one.number = other.number AND one.scope = other.scope AND one.bucket = other.bucket AND one.block = other.block
WHERE other.place > one.place AND other.place <= one.place + {FOLLOWERS}
AND one.id <> other.id AND greatest(one.id, other.id) > {{last}}
AND (
    one.subject = other.subject
    OR bit_count((one.value | other.value) - (one.value & other.value)) <= {{reach}}
)
"""
#: Buckets that are too large to be compared as a whole, and pairs in them that are not candidates by them.
LEFT_OUT = f"""
SELECT count(*), CAST(sum((pages - {FOLLOWERS}) * (pages - {FOLLOWERS + 1}) / 2) AS BIGINT)
FROM simhash_buckets WHERE pages > {FOLLOWERS + 1}
"""
COMPARED = """
SELECT pair.a, pair.b, one.value, one.sketch, one.own, other.value, other.sketch, other.own
FROM (SELECT DISTINCT a, b FROM simhash_candidates) AS pair
JOIN simhash_fingerprints AS one ON pair.a = one.id
JOIN simhash_fingerprints AS other ON pair.b = other.id
"""

# --- From pairs to components: each page with the first page that it is connected with.
# Source: Kiveris et al., "Connected Components in MapReduce and Beyond", 2014: large stars and small stars in turn.

EDGES = """
SELECT b AS page, a AS hub FROM simhash_pairs
UNION SELECT simhash_fingerprints.id, simhash_firsts.id FROM simhash_fingerprints JOIN simhash_firsts ON simhash_fingerprints.content = simhash_firsts.content
WHERE simhash_fingerprints.id <> simhash_firsts.id
UNION SELECT simhash_fingerprints.id, visits.first FROM simhash_fingerprints JOIN (
    SELECT page, min(id) AS first FROM simhash_fingerprints WHERE content IS NOT NULL GROUP BY page HAVING count(*) > 1
) AS visits ON simhash_fingerprints.page = visits.page
WHERE content IS NOT NULL AND simhash_fingerprints.id <> visits.first
"""
LARGE_STARS = """
WITH ends AS (SELECT page, hub FROM simhash_edges UNION ALL SELECT hub, page FROM simhash_edges),
hubs AS (SELECT page, least(page, min(hub)) AS hub FROM ends GROUP BY page)
SELECT DISTINCT ends.hub AS page, hubs.hub AS hub FROM ends JOIN hubs ON ends.page = hubs.page
WHERE ends.hub > ends.page
"""
SMALL_STARS = """
WITH hubs AS (SELECT page, min(hub) AS hub FROM simhash_edges GROUP BY page)
SELECT page, hub FROM hubs
UNION SELECT simhash_edges.hub, hubs.hub FROM simhash_edges JOIN hubs ON simhash_edges.page = hubs.page WHERE simhash_edges.hub <> hubs.hub
"""
#: Edges whose hub has a hub itself: with none, and one hub for each page, all are stars.
UNFINISHED = """
SELECT count(*) FROM simhash_edges AS one JOIN simhash_edges AS other ON one.hub = other.page
"""
MEMBERS = "SELECT page AS id, hub AS component FROM simhash_edges UNION SELECT hub, hub FROM simhash_edges"
JUDGED = """
SELECT component, simhash_fingerprints.id, url, scope, value, text_hash, is_short, sketch, own
FROM simhash_fingerprints JOIN simhash_members ON simhash_fingerprints.id = simhash_members.id
"""

# --- Verdicts and clusters.

_MARKS = ", ".join(VERDICTS.columns)
_NO_MARKS = """CAST(NULL AS STRING) AS simhash_duplicate_of, CAST(NULL AS BIGINT) AS simhash_distance,
CAST(NULL AS DOUBLE) AS simhash_similarity"""
VERDICT_OF_ALL = f"""
SELECT {_MARKS} FROM simhash_judged
UNION ALL SELECT simhash_fingerprints.id, url, true AS simhash_kept,
CASE WHEN outcome = 'fault' THEN 'unknown' WHEN outcome IS NOT NULL OR is_short THEN 'skipped' ELSE 'new' END,
CASE WHEN outcome = 'fault' THEN NULL WHEN is_short THEN 'short_text' ELSE outcome END,
{_NO_MARKS},
CASE WHEN outcome IS NULL AND NOT is_short THEN simhash_fingerprints.id END, CAST(NULL AS STRING)
FROM simhash_fingerprints ANTI JOIN simhash_members ON simhash_fingerprints.id = simhash_members.id
"""
IN_CLUSTERS = """
SELECT simhash_cluster, simhash_judged.url, canonical, simhash_judged.id
FROM simhash_judged JOIN simhash_fingerprints ON simhash_judged.id = simhash_fingerprints.id WHERE simhash_cluster IS NOT NULL
"""
COUNTS = """
SELECT count(*), sum(CASE WHEN simhash_kept THEN 1 ELSE 0 END), sum(CASE WHEN simhash_status = 'near_duplicate' THEN 1 ELSE 0 END)
FROM simhash_verdicts
"""
