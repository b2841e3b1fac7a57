"""HTML pages and text for terminals: the overview of a crawl, the comparison of pages, the choice of a threshold."""
