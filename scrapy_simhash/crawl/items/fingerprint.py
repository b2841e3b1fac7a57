"""From an item to a fingerprint: the features of its chosen fields, with the weight of each field."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from itemadapter import ItemAdapter

from scrapy_simhash.config import Config
from scrapy_simhash.crawl.items.fields import field_texts, value_text
from scrapy_simhash.judge.rule import rule_of
from scrapy_simhash.page.features import features, shingle_counts
from scrapy_simhash.page.fingerprint import Fingerprint, digest, fold, number, occurrences, sketch
from scrapy_simhash.page.text import plain_text
from scrapy_simhash.store import Header, Posting

#: Name of the scheme, without the part from settings: see ``item_header``.
SCHEME = "items-1"
#: The field that names an item in messages, if no other does.
URL = "url"
#: Max characters of a label.
LONGEST_LABEL = 200

# Without a language there are no stopwords. On a page they separate prose from menus. A field has only text that the
# spider chose, and is often too short for thirty shingles with a stopword.
_NO_LANGUAGE = "zxx"


class ItemReading(NamedTuple):
    """An item that was read."""

    posting: Posting
    """The posting for the store. The key is a 16-byte hash of SIMHASH_ITEM_KEY, or of all text without a key. The URL
    is a label: the value of the key, else the field ``url``, else the beginning of the text. Items with the same
    ``page_hash`` have the same text except for white space and markup; only this hash is compared if ``is_short``."""
    has_identity: bool
    """Whether it has a SIMHASH_ITEM_KEY."""


class ItemFingerprinter:
    """Turns items into fingerprints, by the settings of a crawl.

    >>> fingerprinter = ItemFingerprinter(Config(item_fields=("name", "price")))
    >>> a, b = (fingerprinter.read({"name": "Kettle", "price": price}).posting for price in (19, 21))
    >>> a.is_short, a.page_hash == b.page_hash, fingerprinter.read({"price": ""})
    (True, False, None)
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._has_sketches = rule_of(config).compares_sketches
        self._weights = dict(sorted(config.item_fields))

    def read(self, item: Any, seen: int = 0) -> ItemReading | None:
        """Return the reading of *item*, scraped at *seen* (Unix seconds); None if its fields have no text.

        Raises TypeError for what is no item, and TooLarge.
        """
        texts = field_texts(item, self._weights)
        if not texts:
            return None
        adapter = ItemAdapter(item)
        fingerprint = self._fingerprint(texts)
        whole = "\n\n\n".join(f"{field}\n{text}" for field, text in texts.items())
        own = "" if self._config.item_key is None else value_text(adapter.get(self._config.item_key))
        label = own or _url(adapter) or next(iter(texts.values()))
        # An item of three words is no earlier version of one with a thousand words.
        size = "short" if fingerprint is None else "long"
        key = digest(f"{size} {label}") + digest(f"{own} {size}" if own else whole)
        page_hash = number(whole)
        posting = Posting(
            key,
            _shortened(label),
            "",
            fingerprint or Fingerprint(page_hash),
            is_short=fingerprint is None,
            page_hash=page_hash,
            seen=seen,
        )
        return ItemReading(posting, bool(own))

    def _fingerprint(self, texts: dict[str, str]) -> Fingerprint | None:
        """Return the fingerprint of fields that have at least ``min_shingles`` distinct shingles together."""
        config = self._config
        weights: dict[str, int] = {}
        counts: Counter[str] = Counter()
        for field, text in texts.items():
            document = plain_text(text, _NO_LANGUAGE)
            times = self._weights[field]
            # The same word in title and body makes two features.
            for feature, weight in features(document, config.shingle_size, 1, config.mask_digits).items():
                weights[f"{field}\n{feature}"] = times * weight
            for shingle, count in shingle_counts(document, config.shingle_size, config.mask_digits).items():
                counts[f"{field}\n{shingle}"] = times * count
        if not weights or len(counts) < config.min_shingles:
            return None
        value = fold((digest(feature), weight) for feature, weight in weights.items())
        if not self._has_sketches:
            return Fingerprint(value, len(weights))
        # No title key: users mark the field that identifies an item with a weight.
        return Fingerprint(value, len(weights), sketch(occurrences(counts), ()))


def item_header(config: Config) -> Header:
    """Return the header of a store for items: it names the fields, their weights, and the key of items.

    >>> item_header(Config(item_fields={"title": 3, "body": 1}, item_key="url")).scheme
    'items-1: SIMHASH_ITEM_FIELDS body 1, title 3; SIMHASH_ITEM_KEY url'
    """
    fields = ", ".join(f"{field} {weight}" for field, weight in sorted(config.item_fields))
    key = f"; SIMHASH_ITEM_KEY {config.item_key}" if config.item_key else ""
    scheme = f"{SCHEME}: SIMHASH_ITEM_FIELDS {fields}{key}"
    return Header.of(config, scheme)


def _url(adapter: ItemAdapter) -> str:
    url = adapter.get(URL)
    return url.strip() if isinstance(url, str) else ""


def _shortened(label: str) -> str:
    """Return *label* in a form that is safe for stores and logs."""
    label = label.encode("utf-8", "replace").decode()
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
