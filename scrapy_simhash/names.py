"""Public names in meta, flags and stats. Settings are the fields of Config.

A test checks that ``docs/reference/`` describes all these names.
"""

from __future__ import annotations

# The key of Request.meta that spiders set: False, or a dictionary of options.
META = "simhash"

# The key of Request.meta for the result; removed from requests that copy their parent's meta.
META_RESULT = "simhash_result"

# An internal key of Request.meta: a dictionary that is replaced, never modified, since copies of a meta share it.
META_INTERNAL = "_simhash"
#: The URL of the page whose callback yielded the request.
PARENT = "parent"
#: The reason why URL rules delayed a request.
WAITED = "waited"
#: The way in which a page is requested: see `Mode`.
RECRAWL = "recrawl"
#: Last modification according to a sitemap, in seconds of Unix time.
LASTMOD = "lastmod"
#: Hash of a page from the HTTP cache.
KEPT = "kept"

# Response.flags.
FLAG = "near-duplicate"
FLAG_NOT_MODIFIED = "not-modified"
FLAG_NOT_DUE = "not-due"

# Stats. A missing stat is 0.
STAT_PROCESSED = "simhash/processed"
STAT_NEW = "simhash/new"
STAT_NEAR_DUPLICATES = "simhash/near_duplicates"
STAT_EXACT = "simhash/near_duplicates/exact"
STAT_REVISITS = "simhash/revisits"  # and /<reason>
STAT_REVISITS_REPEATING = "simhash/revisits/near_duplicates"
STAT_SKIPPED = "simhash/skipped"  # /<reason>
STAT_PROTECTED = "simhash/protected"  # /<reason>
STAT_DROPPED = "simhash/dropped"  # /<what> and /<what>/unchanged
STAT_WAITING = "simhash/waiting"  # /<what>
STAT_BY_LEARNING = "simhash/by_learning"  # /<status>
STAT_UNIQUE_TEXT = "simhash/unique_text"
STAT_INDEX_SIZE = "simhash/index_size"
STAT_CHANGES = "simhash/changes"  # /<change>
STAT_NOT_DUE = "simhash/recrawl/not_due"
STAT_NOT_MODIFIED = "simhash/recrawl/not_modified"
STAT_CHECKED = "simhash/recrawl/checked"
STAT_WRONG_HOSTS = "simhash/recrawl/wrong_hosts"
STAT_URL_RULES_SKIPPED = "simhash/url_rules/skipped"
STAT_URL_RULES_WOULD_SKIP = "simhash/url_rules/would_skip"
STAT_URL_RULES_SENT = "simhash/url_rules/sent_after_all"
STAT_URL_RULES_TRAPS = "simhash/url_rules/traps"
STAT_URL_RULES_GIVEN_UP = "simhash/url_rules/given_up"

# Items compared by their fields.
STAT_ITEMS = "simhash/items"  # /<status>
STAT_ITEMS_EXACT = "simhash/items/exact"
STAT_ITEMS_DROPPED = "simhash/items/dropped"
STAT_ITEMS_UNMARKED = "simhash/items/unmarked"
ITEMS_NEW = f"{STAT_ITEMS}/new"
ITEMS_NEAR_DUPLICATES = f"{STAT_ITEMS}/near_duplicates"
ITEMS_REVISITS = f"{STAT_ITEMS}/revisits"
ITEMS_SKIPPED = f"{STAT_ITEMS}/skipped"
ITEMS_ERRORS = f"{STAT_ITEMS}/errors"

# Errors, by place.
STAT_ERRORS = "simhash/errors"  # /<where>
ERRORS_COMPARE = f"{STAT_ERRORS}/compare"
ERRORS_STORE = f"{STAT_ERRORS}/store"
ERRORS_RECORD = f"{STAT_ERRORS}/record"
ERRORS_ACTION = f"{STAT_ERRORS}/action"
ERRORS_META = f"{STAT_ERRORS}/meta"
ERRORS_CHANGES = f"{STAT_ERRORS}/changes"
ERRORS_REPORT = f"{STAT_ERRORS}/report"
