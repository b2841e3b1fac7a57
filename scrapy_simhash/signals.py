"""Signals that scrapy-simhash sends, for ``crawler.signals.connect``."""

from __future__ import annotations

#: A page is a near-duplicate. Sent once per response, before the spider gets it, with the arguments ``request``,
#: ``response``, ``verdict`` (a :class:`~scrapy_simhash.Verdict`) and ``spider``. Handlers of all these signals cannot
#: be coroutines.
near_duplicate_found = object()

#: An item is a near-duplicate. Sent once per item, with the arguments ``item``, ``verdict`` (a
#: :class:`~scrapy_simhash.Verdict`) and ``spider``.
near_duplicate_item_found = object()

#: URL rules skipped a request: its page was fetched at a different URL, or its pattern is a trap. Sent once per
#: request, with the arguments ``request``, ``rules`` (the texts of the rules) and ``spider``.
request_skipped = object()

#: A page is new, changed, moved, gone, not seen or back. Sent once per line of ``SIMHASH_CHANGES``, with the
#: arguments ``change`` (the line, a dictionary) and ``spider``.
page_changed = object()
