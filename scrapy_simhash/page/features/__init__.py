"""Make weighted features from a document."""

from scrapy_simhash.page.features.extract import (
    ZONES,
    features,
    has_little_text,
    has_some_text,
    shingle_counts,
    titled_text,
    weight,
    whole_text,
    with_offer,
)
from scrapy_simhash.page.features.facts import facts_bytes, find_facts

__all__ = [
    "ZONES",
    "facts_bytes",
    "features",
    "find_facts",
    "has_little_text",
    "has_some_text",
    "shingle_counts",
    "titled_text",
    "weight",
    "whole_text",
    "with_offer",
]
