"""What looks on at a crawl, if its setting asks for it: URL rules, recrawls, changes, the report."""
