"""User-defined schemes, which settings name by their import path."""

from scrapy_simhash.page.schemes import XXH3_LONG, Links, Scheme, Words

BY_LINKS = Scheme({Links(): 1, Words(): 0.5}, version=3)
LONG = Scheme({Words(): 1}, feature_hash=XXH3_LONG, ties="zero", width=128)
