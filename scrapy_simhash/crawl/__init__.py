"""The Scrapy side: add-on, middlewares, pipeline, and what they are made of. Besides, only cli/ knows Scrapy."""
