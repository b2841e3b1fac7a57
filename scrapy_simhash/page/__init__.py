"""Pages: from HTML to Fingerprint. Independent of index, store and Scrapy."""
