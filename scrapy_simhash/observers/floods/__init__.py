"""Floods: groups of URLs that bring nothing new, and what their page is: a login wall, a soft 404, a trap."""

from scrapy_simhash.observers.floods.kinds import WALLS, Flood, Kind, kind_of

__all__ = ["WALLS", "Flood", "Kind", "kind_of"]
