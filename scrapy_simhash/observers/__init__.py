"""Optional listeners of a crawl: URL rules, recrawls, changes, the report."""
