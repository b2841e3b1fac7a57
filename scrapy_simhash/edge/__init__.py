"""The Scrapy edge: what the middlewares and the pipeline are made of. Nothing further in knows Scrapy."""
