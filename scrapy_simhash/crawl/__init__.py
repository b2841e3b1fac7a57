"""The Scrapy side: add-on, middlewares, pipeline and their parts. Outside of it, only cli/ imports Scrapy."""
