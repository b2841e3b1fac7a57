"""Statements: what claims say to SQLite."""

from __future__ import annotations

from scrapy_simhash.store.candidates import BY_OWN_PART, BY_SUBJECT, BY_TEXT

#: Pages and contents have smaller numbers. Larger ones are damage, and are not counted on from.
MOST_NUMBER = 1 << 40

ENDS = f"""SELECT
    (SELECT count(*) FROM pages),
    (SELECT 1 + max(ifnull((SELECT max(number) FROM pages WHERE number < {MOST_NUMBER}), -1),
        ifnull((SELECT max(page) FROM removed WHERE page < {MOST_NUMBER}), -1))),
    (SELECT 1 + ifnull(max(number), -1) FROM contents WHERE number < {MOST_NUMBER})"""
VISIT = """SELECT number, value, text_hash, seen, content, rank,
    EXISTS (SELECT 1 FROM runs WHERE runs.number = pages.run AND ended IS NOT NULL),
    (SELECT is_short FROM contents WHERE contents.number = pages.content)
FROM pages WHERE key = ?"""
CONTENT = """SELECT page, value, text_hash, sketch, own
FROM contents LEFT JOIN sketches ON sketches.content = contents.number
WHERE contents.number = ?"""
FOUND_BY_TEXT = f"SELECT scope, value, number FROM contents WHERE found_by & {BY_TEXT} AND NOT is_short"
SKETCHES = f"""SELECT scope, number, sketch, own, found_by
FROM contents JOIN sketches ON sketches.content = contents.number
WHERE found_by & {BY_SUBJECT | BY_OWN_PART}"""
CLUSTER = "SELECT url, key, joined FROM pages WHERE number = ?"
SHORT = "SELECT number FROM contents WHERE scope = ? AND value = ? AND is_short AND found_by"
NEW_CONTENT = "INSERT INTO contents VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
NEW_SKETCH = "INSERT INTO sketches VALUES (?, ?, ?)"
NEW_PAGE = "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)"
CHANGED_PAGE = """UPDATE pages
SET url = ?, value = ?, text_hash = ?, seen = ?, run = coalesce(?, run), content = ?, rank = ?, sketch = ?,
    own = ?
WHERE number = ?"""
UNSETTLED = "UPDATE pages SET run = 0 WHERE key = ? AND run = ?"
JOINED_CLUSTER = "UPDATE pages SET joined = ? WHERE number = ?"
