"""Every name that users meet in meta, flags and stats, each once. Settings are the fields of Config.

``docs/reference/`` describes them all; a test compares.
"""

from __future__ import annotations

# Request.meta, read.
META_ENABLED = "simhash"
META_ACTION = "simhash_action"
META_REVISIT_ACTION = "simhash_revisit_action"

META_URL_RULES = "simhash_url_rules"
META_CONDITIONAL = "simhash_conditional"
META_RECRAWL = "simhash_recrawl"
META_LASTMOD = "simhash_lastmod"

# Request.meta, written by the spider middleware, and there until the page is judged.
META_PARENT = "simhash_parent"

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
META_EXACT = "simhash_exact"
META_RANK = "simhash_rank"
META_HINTS = "simhash_hints"
META_ELSEWHERE = "simhash_elsewhere"
META_PREFERRED = "simhash_preferred"
META_BY_LEARNING = "simhash_by_learning"
META_CHANGE = "simhash_change"
META_TEXT = "simhash_text"
META_DONE = "simhash_done"
META_EXEMPTION = "simhash_exemption"
META_WAITED = "simhash_waited"
META_IN_FULL = "simhash_in_full"
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
        META_EXACT,
        META_RANK,
        META_HINTS,
        META_ELSEWHERE,
        META_PREFERRED,
        META_BY_LEARNING,
        META_CHANGE,
        META_TEXT,
        META_DONE,
        META_EXEMPTION,
        META_WAITED,
        META_IN_FULL,
    )
)

# Fields of a record, beside those that are called as in the meta.
FIELD_KEPT = "simhash_kept"
FIELD_COPIES = "simhash_copies"

# Response.flags.
FLAG = "near-duplicate"
FLAG_NOT_MODIFIED = "not-modified"
FLAG_NOT_DUE = "not-due"

# Stats. Absent means 0.
STAT_PROCESSED = "simhash/processed"
STAT_NEW = "simhash/new"
STAT_NEAR_DUPLICATES = "simhash/near_duplicates"
STAT_EXACT = "simhash/near_duplicates/exact"
STAT_REVISITS = "simhash/revisits"  # and /<reason>
STAT_REVISITS_REPEATING = "simhash/revisits/near_duplicates"
STAT_SKIPPED = "simhash/skipped"  # /<reason>
STAT_ITEMS_DROPPED = "simhash/items_dropped"
STAT_ITEMS_DROPPED_UNCHANGED = "simhash/items_dropped/unchanged"
STAT_REQUESTS_DROPPED = "simhash/requests_dropped"
STAT_REQUESTS_DROPPED_UNCHANGED = "simhash/requests_dropped/unchanged"
STAT_PAGES_DROPPED = "simhash/pages_dropped"
STAT_PAGES_DROPPED_UNCHANGED = "simhash/pages_dropped/unchanged"
STAT_ITEMS_UNMARKED = "simhash/items_unmarked"
STAT_BAD_ACTION = "simhash/bad_action"
STAT_EXEMPTED = "simhash/exempted"  # /<reason>
STAT_ELSEWHERE = "simhash/elsewhere"
STAT_LARGEST_CLUSTER = "simhash/largest_cluster"
STAT_PREFERRED_LATER = "simhash/preferred_later"
STAT_FLOODS = "simhash/flood"  # /<kind>
STAT_URL_RULES_SKIPPED = "simhash/url_rules/skipped"
STAT_URL_RULES_WOULD_SKIP = "simhash/url_rules/would_skip"
STAT_URL_RULES_GIVEN_UP = "simhash/url_rules/given_up"
STAT_URL_RULES_SENT = "simhash/url_rules/sent_after_all"
STAT_URL_RULES_NOT_KEPT = "simhash/url_rules/not_kept"
STAT_CONDITIONAL_SENT = "simhash/conditional/sent"
STAT_CONDITIONAL_NOT_MODIFIED = "simhash/conditional/not_modified"
STAT_CONDITIONAL_CHECKS = "simhash/conditional/checks"
STAT_CONDITIONAL_LIES = "simhash/conditional/lies"
STAT_CONDITIONAL_NOT_KEPT = "simhash/conditional/not_kept"
STAT_RECRAWL_SKIPPED = "simhash/recrawl/skipped"  # and /<reason>
STAT_CHANGES = "simhash/changes"  # /<change>
STAT_CHANGES_UNKNOWN = "simhash/changes/links_unknown"
STAT_CHANGE_ERRORS = "simhash/change_errors"
STAT_REPORT_ERRORS = "simhash/report_errors"
STAT_HOSTS_KNOWN = "simhash/site/hosts_known"
STAT_OWN_PARTS = "simhash/site/own_parts"
STAT_SITE_NEW = "simhash/site/new"
STAT_SITE_NEAR_DUPLICATES = "simhash/site/near_duplicates"

# Of items that are compared by their fields.
STAT_ITEM_NEW = "simhash/items/new"
STAT_ITEM_NEAR_DUPLICATES = "simhash/items/near_duplicates"
STAT_ITEM_EXACT = "simhash/items/exact"
STAT_ITEM_REVISITS = "simhash/items/revisits"
STAT_ITEM_SKIPPED = "simhash/items/skipped"
STAT_ITEM_DROPPED = "simhash/items/dropped"
STAT_ITEM_EXEMPTED = "simhash/items/exempted"
STAT_ITEM_UNMARKED = "simhash/items/unmarked"
STAT_ITEM_ERRORS = "simhash/items/errors"
STAT_ITEM_STORE_ERRORS = "simhash/items/store_errors"
STAT_ITEM_INDEX_SIZE = "simhash/items/index_size"

STAT_ERRORS = "simhash/errors"
STAT_CONSEQUENCE_ERRORS = "simhash/consequence_errors"
STAT_STORE_ERRORS = "simhash/store_errors"
STAT_THREADED = "simhash/threaded"
STAT_SLOW_PAGES = "simhash/slow_pages"
STAT_DAMAGED = "simhash/damaged_records"
STAT_INDEX_SIZE = "simhash/index_size"
