"""Views: the overview of a crawl, the comparison of pages, and the choice of a threshold."""
