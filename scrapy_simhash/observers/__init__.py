"""Optional listeners of a crawl: URL rules, recrawls, changes, and the report."""
