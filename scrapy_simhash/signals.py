"""Signals that scrapy-simhash sends, for ``crawler.signals.connect``."""

from __future__ import annotations

#: A page repeats another one. Sent once per such response, before the spider sees it, with the arguments
#: ``request``, ``response``, ``verdict`` (a :class:`~scrapy_simhash.Verdict`) and ``spider``. No handler of these
#: signals may be a coroutine.
near_duplicate_found = object()

#: An item repeats another one. Sent once per such item, with the arguments ``item``, ``verdict`` (a
#: :class:`~scrapy_simhash.Verdict`) and ``spider``.
near_duplicate_item_found = object()

#: A request is not sent, since by URL rules its page has been fetched under another URL. Sent once per such request,
#: with the arguments ``request``, ``rules`` (the texts of the rules) and ``spider``.
request_skipped = object()

#: A page is new, has changed or moved, is gone, not seen or back. Sent once per line of ``SIMHASH_CHANGES``, with the
#: arguments ``change`` (the line, a dictionary) and ``spider``.
page_changed = object()
