"""Pages: make fingerprints from HTML, without using index, store or Scrapy."""
