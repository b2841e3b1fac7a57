"""Floods: one page that comes back under ever more URLs of a host, noticed, named, and stopped if told to."""

from scrapy_simhash.floods.flood import Flood, Kind
from scrapy_simhash.floods.kinds import kind_of
from scrapy_simhash.floods.pattern import grows, path_shape, patterns
from scrapy_simhash.floods.watch import FloodWatch, Seen, Suspect

__all__ = ["Flood", "FloodWatch", "Kind", "Seen", "Suspect", "grows", "kind_of", "path_shape", "patterns"]
