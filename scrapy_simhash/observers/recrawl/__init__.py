"""Recrawl: keep responses, so that the next crawl can skip pages or request them conditionally."""
