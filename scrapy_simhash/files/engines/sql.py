"""The tables of batch engines, and the SQL that creates them, valid in both DuckDB and Spark.

Bands are the keys that select the pages to compare. A crawl finds all pages within eight bits, but a join cannot do
that. Within a scope, engines compare pages that share one of these keys::

    28 bands      16 bins of the sketch, 2 bits each: a 32-bit number; 0 if no bin is filled, which is not a key
     1 title key    the hash of the words of the title key, as in the sketch; 0 for none

If two pages have the similarity *j*, a bin is equal with probability p = (1 + 2j) / 3, a band with p**16, and at
least one of 28 bands with .95 at j = .8, .997 at .85 and .99999 at .9. Versions of one page, which may be less
similar, have the same title key. Every bin is equally likely for a shingle, so adjacent bins are as good as any
others. The unique text has separate keys, with the title key of its page.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.batch.page import MARKS
from scrapy_simhash.store.candidates import GENERIC

BANDS = 28
_ARROW = {
    "BIGINT": "int64",
    "INT": "int32",
    "BOOLEAN": "bool_",
    "DOUBLE": "float64",
    "STRING": "string",
    "BINARY": "binary",
}
_TYPES = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "STRING"}


class Table(NamedTuple):
    """The columns of a table."""

    columns: dict[str, str]
    """Names of the columns, and their types in SQL."""

    @property
    def ddl(self) -> str:
        """The columns as a schema of Spark."""
        return ", ".join(f"{name} {kind}" for name, kind in self.columns.items())

    def arrow(self) -> Any:
        """Return the columns as a schema of Arrow."""
        pa = arrow()
        arrays = {"ARRAY<STRING>": pa.list_(pa.string()), "ARRAY<BIGINT>": pa.list_(pa.int64())}
        kinds = {name: getattr(pa, kind)() for name, kind in _ARROW.items()} | arrays
        return pa.schema([(name, kinds[kind]) for name, kind in self.columns.items()])

    def batch(self, rows: Sequence[tuple[Any, ...]]) -> Any:
        """Convert *rows* to a batch of Arrow."""
        pa, schema = arrow(), self.arrow()
        columns = zip(*rows, strict=True) if rows else [()] * len(schema)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


#: The *outcome* of an unreadable page; otherwise *outcome* is the reason of a verdict.
FAULT = "fault"
#: All pages. A page with an *outcome*, which is the reason, is not compared.
FINGERPRINTS = Table(
    {
        "id": "BIGINT",
        "url": "STRING",
        "scope": "STRING",
        "host": "STRING",
        "value": "BIGINT",
        "text_hash": "BIGINT",
        "is_short": "BOOLEAN",
        "sketch": "BINARY",
        "own": "BINARY",
        "canonical": "STRING",
        "outcome": "STRING",
    }
)
#: The columns of `FINGERPRINTS`, and the text blocks from which boilerplate is learned.
READINGS = Table(FINGERPRINTS.columns | {"pieces": "BINARY"})
#: Boilerplate models of sites.
SITES = Table({"host": "STRING", "profile": "BINARY"})
#: The flags for the text blocks of a page, from the boilerplate model of a known site.
ANSWERS = Table({"id": "BIGINT", "answer": "BINARY"})
#: The keys of pages: a row for the page, and a row for its unique text.
KEYS = Table(
    {"id": "BIGINT", "scope": "BIGINT", "value": "BIGINT", "title_key": "BIGINT"}
    | {f"band{band}": "INT" for band in range(BANDS)}
)
#: Pairs of near-duplicates; *a* is less than *b*.
PAIRS = Table({"a": "BIGINT", "b": "BIGINT", "similarity": "DOUBLE", "distance": "BIGINT"})
#: The columns of ``dedup --mark``; a cluster has the id of its first page.
VERDICTS = Table({"id": "BIGINT", "url": "STRING"} | {name: _TYPES[kind] for name, kind in MARKS.items()})
#: The columns of `VERDICTS` for pages with near-duplicates, the first page with their text, and other similar
#: clusters. A page that is too short for a fingerprint has a text but no cluster.
JUDGED_PAGES = Table(VERDICTS.columns | {"text": "BIGINT", "also_near": "ARRAY<BIGINT>"})
#: Clusters of two or more pages.
CLUSTERS = Table({"cluster": "BIGINT", "members": "ARRAY<STRING>", "preferred": "STRING"})


def rows_of(batch: Any) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a batch of Arrow."""
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


def arrow() -> Any:
    """Return the module pyarrow."""
    try:
        return import_module("pyarrow")
    except ImportError:
        raise KindError(
            "DuckDB and Spark need pyarrow: pip install 'scrapy-simhash[duckdb]' or 'scrapy-simhash[spark]'"
        ) from None


#: The columns of `KEYS` that are keys.
KEY_COLUMNS = (*(f"band{band}" for band in range(BANDS)), "title_key")
#: A bucket is all pages of a scope that share a key. Each page is compared with this many pages that follow it, so
#: buckets of up to 65 pages are compared completely.
FOLLOWERS = 64


def order_mask(key: int) -> int:
    """Return a mask of low bits: the pages in a bucket of *key*, 0 to 28, are sorted by these bits first.

    Each key has a different number of bits, 63 to 7, so similar pages that are far apart in one large bucket may be
    neighbours in another.
    """
    return (1 << (63 - 2 * key)) - 1


_OPTIONAL = ("scope", "content_type", "content_language")

# --- From pages to fingerprints.


def pages(columns: Container[str], *, is_answered: bool) -> str:
    """Return the query for the pages of a table with *columns*: all pages, or those that a model has answered."""
    given = [
        f"CAST({f'simhash_pages.{name}' if name in columns else 'NULL'} AS STRING) AS {name}"
        for name in _OPTIONAL
    ]
    page = "html" if "html" in columns else "text"
    answer = "answer FROM simhash_pages JOIN simhash_answers ON simhash_pages.id = simhash_answers.id"
    if not is_answered:
        answer = "CAST(NULL AS BINARY) AS answer FROM simhash_pages"
    known = "CAST(simhash_pages.id AS BIGINT) AS id, CAST(simhash_pages.url AS STRING) AS url"
    return f"SELECT {known}, simhash_pages.{page}, {', '.join(given)}, {answer}"


#: Pages from which boilerplate is learned, in order.
LESSONS = "SELECT host, pieces, sketch, id FROM simhash_readings WHERE pieces IS NOT NULL"
#: The model of each site (turn 0), followed by the pages of the site (turn 1).
QUESTIONS = """
SELECT host, id, pieces, 1 AS turn FROM simhash_readings WHERE pieces IS NOT NULL
UNION ALL SELECT host, CAST(NULL AS BIGINT), profile, 0 FROM simhash_sites
"""
_FINGERPRINT = ", ".join(FINGERPRINTS.columns)
AS_READ = f"SELECT {_FINGERPRINT} FROM simhash_readings"
READ_TWICE = f"""
SELECT {_FINGERPRINT} FROM simhash_readings AS page ANTI JOIN simhash_answers AS known ON page.id = known.id
UNION ALL SELECT {_FINGERPRINT} FROM simhash_readings_again
"""

# --- From fingerprints to candidates. Pages with the same content are compared only once.

#: Pages with equal *content* have equal fingerprints. *page* is the hash of the URL; {hash} is a hash function.
CONTENTS = """
SELECT id, scope, text_hash, is_short, {hash}(scope, value, sketch, own) AS content, {hash}(url) AS page
FROM simhash_fingerprints WHERE outcome IS NULL
"""
FIRSTS = "SELECT content, min(id) AS id FROM simhash_contents GROUP BY content"
FOUND_BY_KEYS = """
SELECT page.id, scope, value, sketch, own
FROM simhash_fingerprints AS page SEMI JOIN simhash_firsts AS first ON page.id = first.id
WHERE NOT is_short
"""


def entries(numbers: Sequence[int]) -> str:
    """Return the query for a row per page and key, for the keys with these *numbers*.

    Within a bucket, rows are sorted by ``turned`` and ``value``.
    """
    return " UNION ALL ".join(
        f"SELECT {number} AS number, scope, CAST({KEY_COLUMNS[number]} AS BIGINT) AS bucket, id, value, title_key,"
        f" value & {order_mask(number)} AS turned FROM simhash_keys WHERE {KEY_COLUMNS[number]} <> 0"
        for number in numbers
    )


#: Buckets with more than one page.
BUCKETS = """
SELECT number, scope, bucket, count(*) AS pages FROM ({entries}) AS entries
GROUP BY number, scope, bucket HAVING count(*) > 1
"""
#: The rows of these buckets, with their position in the bucket, from 0.
PLACES = """
SELECT entries.number, entries.scope, entries.bucket, id, value, title_key, row_number() OVER (
    PARTITION BY entries.number, entries.scope, entries.bucket ORDER BY turned, value, id
) - 1 AS place
FROM ({entries}) AS entries JOIN simhash_buckets AS shared
ON entries.number = shared.number AND entries.scope = shared.scope AND entries.bucket = shared.bucket
"""
#: Pairs of pages in a bucket that the rule may accept: within the maximum distance, or with equal title keys. Buckets
#: are split into blocks: each page is paired with later pages of its block and of the next block.
CANDIDATES = f"""
SELECT DISTINCT least(one.id, other.id) AS a, greatest(one.id, other.id) AS b
FROM (SELECT *, place - place % {FOLLOWERS} AS block FROM simhash_places) AS one
JOIN (
    SELECT *, place - place % {FOLLOWERS} AS block FROM simhash_places
    UNION ALL SELECT *, place - place % {FOLLOWERS} - {FOLLOWERS} FROM simhash_places
) AS other
ON one.number = other.number AND one.scope = other.scope AND one.bucket = other.bucket AND one.block = other.block
WHERE other.place > one.place AND other.place <= one.place + {FOLLOWERS}
AND one.id <> other.id
AND (
    (one.title_key = other.title_key AND one.title_key <> 0)
    OR bit_count((one.value | other.value) - (one.value & other.value)) <= {{reach}}
)
"""
COMPARED = """
SELECT pair.a, pair.b, one.value, one.sketch, one.own, other.value, other.sketch, other.own
FROM (SELECT DISTINCT a, b FROM simhash_candidates) AS pair
JOIN simhash_fingerprints AS one ON pair.a = one.id
JOIN simhash_fingerprints AS other ON pair.b = other.id
"""

# --- From pairs to components: connect each page with the first page of its component. Source: Kiveris et al.,
# "Connected Components in MapReduce and Beyond", 2014: alternating large stars and small stars.

EDGES = """
SELECT b AS page, a AS hub FROM simhash_pairs
UNION SELECT page.id, first.id FROM simhash_contents AS page
JOIN simhash_firsts AS first ON page.content = first.content WHERE page.id <> first.id
UNION SELECT page.id, first.id FROM simhash_contents AS page JOIN (
    SELECT scope, text_hash, min(id) AS id FROM simhash_contents
    WHERE text_hash IS NOT NULL AND NOT is_short GROUP BY scope, text_hash HAVING count(*) > 1
) AS first ON page.scope = first.scope AND page.text_hash = first.text_hash
WHERE NOT is_short AND page.id <> first.id
UNION SELECT visit.id, first.id FROM simhash_contents AS visit JOIN (
    SELECT page, min(id) AS id FROM simhash_contents GROUP BY page HAVING count(*) > 1
) AS first ON visit.page = first.page WHERE visit.id <> first.id
"""
LARGE_STARS = """
WITH ends AS (SELECT page, hub FROM simhash_edges UNION ALL SELECT hub, page FROM simhash_edges),
least_of AS (SELECT page, least(page, min(hub)) AS hub FROM ends GROUP BY page)
SELECT DISTINCT ends.hub AS page, least_of.hub AS hub FROM ends JOIN least_of ON ends.page = least_of.page
WHERE ends.hub > ends.page
"""
SMALL_STARS = """
WITH least_of AS (SELECT page, min(hub) AS hub FROM simhash_edges GROUP BY page)
SELECT page, hub FROM least_of
UNION SELECT edge.hub, least_of.hub
FROM simhash_edges AS edge JOIN least_of ON edge.page = least_of.page WHERE edge.hub <> least_of.hub
"""
#: Number of hubs with a hub, and of pages with two hubs; if both are 0, each component is one star.
UNFINISHED = """
SELECT (SELECT count(*) FROM simhash_edges AS one JOIN simhash_edges AS other ON one.hub = other.page),
(SELECT count(*) - count(DISTINCT page) FROM simhash_edges)
"""
MEMBERS = "SELECT page AS id, hub AS component FROM simhash_edges UNION SELECT hub, hub FROM simhash_edges"
#: For each title on a host in a scope, the first components with this title, and the first page of each. Further
#: components are not needed, because the title is generic already.
TITLES = f"""
SELECT scope, title_key, host, component, first FROM (
    SELECT *, row_number() OVER (PARTITION BY scope, title_key, host ORDER BY first) AS place FROM (
        SELECT page.scope, title_key, host, coalesce(component, page.id) AS component, min(page.id) AS first
        FROM simhash_keys AS page JOIN simhash_fingerprints AS fingerprint ON page.id = fingerprint.id
        LEFT JOIN simhash_members AS member ON page.id = member.id
        WHERE title_key <> 0 GROUP BY page.scope, title_key, host, coalesce(component, page.id)
    ) AS titled
) AS placed WHERE place <= {GENERIC + 1}
"""
JUDGED = """
SELECT component, page.id, url, scope, value, text_hash, is_short, sketch, own,
coalesce(titled_elsewhere, 0) AS titled_elsewhere
FROM simhash_fingerprints AS page JOIN simhash_members AS member ON page.id = member.id
LEFT JOIN (
    SELECT page.id, count(DISTINCT title.component) AS titled_elsewhere
    FROM simhash_keys AS page JOIN simhash_members AS member ON page.id = member.id
    JOIN simhash_fingerprints AS fingerprint ON page.id = fingerprint.id
    JOIN simhash_titles AS title
    ON page.scope = title.scope AND page.title_key = title.title_key AND fingerprint.host = title.host
    WHERE title.component <> member.component AND title.first < page.id GROUP BY page.id
) AS others ON page.id = others.id
"""

# --- Verdicts and clusters.

#: Pages without a connection are new, or were not compared.
VERDICT_OF_ALL = f"""
SELECT {", ".join(VERDICTS.columns)} FROM simhash_judged
UNION ALL SELECT page.id, url, true,
CASE WHEN outcome = '{FAULT}' THEN 'unknown' WHEN outcome IS NOT NULL OR is_short THEN 'skipped' ELSE 'new' END,
CASE WHEN outcome = '{FAULT}' THEN NULL WHEN is_short THEN 'short_text' ELSE outcome END,
CAST(NULL AS STRING), CAST(NULL AS BIGINT), CAST(NULL AS DOUBLE),
CASE WHEN outcome IS NULL AND NOT is_short THEN page.id END, CAST(NULL AS STRING)
FROM simhash_fingerprints AS page ANTI JOIN simhash_members AS member ON page.id = member.id
"""
REPRESENTATIVES = "SELECT id, url FROM simhash_verdicts WHERE simhash_kept"
IN_CLUSTERS = """
SELECT component, page.text, page.url, canonical, also_near, page.id
FROM simhash_judged AS page JOIN simhash_fingerprints AS read ON page.id = read.id
JOIN simhash_members AS member ON page.id = member.id
WHERE page.text IS NOT NULL
"""
COUNTS = """
SELECT count(*), count(CASE WHEN simhash_kept THEN 1 END),
count(CASE WHEN simhash_status = 'near_duplicate' THEN 1 END),
count(CASE WHEN simhash_status = 'unknown' THEN 1 END),
(SELECT count(*) FROM simhash_clusters), (SELECT count(*) FROM simhash_pairs) FROM simhash_verdicts
"""
