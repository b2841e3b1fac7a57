"""What a page says, from HTML to Fingerprint. Knows no index, no store and no Scrapy."""
