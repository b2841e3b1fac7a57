"""Every name that users meet in meta, flags and stats, each once. Settings are the fields of Config.

``docs/reference/`` describes them all; a test compares.
"""

from __future__ import annotations

# Request.meta, read.
META_ENABLED = "simhash"
META_ACTION = "simhash_action"

# Request.meta, written; never sent on with a request that copies its parent's meta.
META_STATUS = "simhash_status"
META_REASON = "simhash_reason"
META_VALUE = "simhash_value"
META_DUPLICATE_OF = "simhash_duplicate_of"
META_DISTANCE = "simhash_distance"
META_SIMILARITY = "simhash_similarity"
META_CLUSTER = "simhash_cluster"
META_LAST_SEEN = "simhash_last_seen"
META_SETTLED = "simhash_settled"
META_OUT = frozenset(
    (
        META_STATUS,
        META_REASON,
        META_VALUE,
        META_DUPLICATE_OF,
        META_DISTANCE,
        META_SIMILARITY,
        META_CLUSTER,
        META_LAST_SEEN,
        META_SETTLED,
    )
)

# Response.flags.
FLAG = "near-duplicate"

# Stats. Absent means 0.
STAT_PROCESSED = "simhash/processed"
STAT_NEW = "simhash/new"
STAT_NEAR_DUPLICATES = "simhash/near_duplicates"
STAT_REVISITS = "simhash/revisits"  # and /<reason>
STAT_SKIPPED = "simhash/skipped"  # /<reason>
STAT_ITEMS_DROPPED = "simhash/items_dropped"
STAT_REQUESTS_DROPPED = "simhash/requests_dropped"
STAT_PAGES_DROPPED = "simhash/pages_dropped"
STAT_ITEMS_UNMARKED = "simhash/items_unmarked"
STAT_BAD_ACTION = "simhash/bad_action"
STAT_ERRORS = "simhash/errors"
STAT_STORE_ERRORS = "simhash/store_errors"
STAT_THREADED = "simhash/threaded"
STAT_INDEX_SIZE = "simhash/index_size"
