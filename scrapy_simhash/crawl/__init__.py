"""The Scrapy side: the add-on, the middlewares, the pipeline, and what they are made of. Besides, only cli/ knows Scrapy."""
