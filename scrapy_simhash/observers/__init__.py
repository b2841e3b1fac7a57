"""What learns from the verdicts of a crawl: URL rules, recrawls, the change feed, floods. A crawl runs without."""
