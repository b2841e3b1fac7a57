"""What a person looks at: the overview of a crawl, its page, and the choice of a threshold."""
