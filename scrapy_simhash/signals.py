"""Signals that scrapy-simhash sends, for ``crawler.signals.connect``."""

from __future__ import annotations

#: A page repeats another one. Sent once per such response, before the spider sees it, with the arguments
#: ``request``, ``response``, ``verdict`` (a :class:`~scrapy_simhash.Verdict`) and ``spider``. The handler must not
#: be a coroutine.
near_duplicate_found = object()
