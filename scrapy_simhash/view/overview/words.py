"""What the values in a report mean, in words."""

from __future__ import annotations

#: What is said of a page by its action, with what was done about it.
DONE = {
    "mark": "It was marked, nothing of it was dropped",
    "drop_items": "Its items were dropped",
    "drop_links": "Its links were dropped",
    "drop_items,drop_links": "Its items and its links were dropped",
    "drop_page": "It was dropped: its callback did not run",
}
#: Why not more was done.
EXEMPTIONS = {
    "min_depth": "it is nearer to the start than SIMHASH_MIN_DEPTH",
    "url": "SIMHASH_ACTION_ALLOW, SIMHASH_ACTION_DENY or their _DOMAINS settings exclude its URL",
    "itself": "it has the same URL as the page that it repeats",
    "budget": "it is among the first SIMHASH_CLUSTER_BUDGET pages of its cluster",
    "start": "the links of a start page are followed",
    "listing": "the links of a page that lists others are followed",
    "pagination": "it is another page of the same listing",
    "language": "it is the same page for readers of another language or country",
    "product": "it is a product page, perhaps of another variant of the product",
}
#: How a page has fared that was seen before.
FATES = {
    "unchanged": "its text is unchanged",
    "delivered": "its text is unchanged, and another live crawler has delivered it",
    "small_change": "a little of its text has changed",
    "changed": "its text has changed",
    "now_near_duplicate": "its text has changed and now repeats another page",
}
#: Why a page was not compared.
SKIPPED = {
    "opted_out": "its request said simhash: False",
    "status": "its HTTP status is not a 2xx one",
    "not_html": "it is not HTML",
    "truncated": "its body is not complete",
    "too_large": "it is larger than SIMHASH_MAXSIZE",
    "short_text": "it has too little text for a fingerprint, and no other page has the same text",
}
