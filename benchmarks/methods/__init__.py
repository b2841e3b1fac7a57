"""Other search methods that the source documents describe, each short and exact.

Each method stores a set of distinct fingerprints and finds those within a distance of a query. Crawls do not use
these methods: they are here for reading, and tests compare them with ``SimhashIndex``.
"""
