"""Feature kinds: what is counted of a page, a file each."""

from scrapy_simhash.page.schemes.kinds.character_grams import CharacterGrams
from scrapy_simhash.page.schemes.kinds.enumerated import (
    Enumerated,
    language,
    page_type,
    repeated,
    schema_type,
)
from scrapy_simhash.page.schemes.kinds.feature_kind import FeatureKind, Page
from scrapy_simhash.page.schemes.kinds.headings import Headings
from scrapy_simhash.page.schemes.kinds.images import Image, Images
from scrapy_simhash.page.schemes.kinds.links import Links
from scrapy_simhash.page.schemes.kinds.shingles import Shingles
from scrapy_simhash.page.schemes.kinds.tag_paths import TagPaths
from scrapy_simhash.page.schemes.kinds.title import Title
from scrapy_simhash.page.schemes.kinds.window import CyclicWindows
from scrapy_simhash.page.schemes.kinds.words import Words

__all__ = [
    "CharacterGrams",
    "CyclicWindows",
    "Enumerated",
    "FeatureKind",
    "Headings",
    "Image",
    "Images",
    "Links",
    "Page",
    "Shingles",
    "TagPaths",
    "Title",
    "Words",
    "language",
    "page_type",
    "repeated",
    "schema_type",
]
