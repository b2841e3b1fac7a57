"""What looks on at a crawl, if its setting asks for it: URL rules, recrawls, changes, floods, the report."""
