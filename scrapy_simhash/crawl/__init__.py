"""The Scrapy components: add-on, middlewares, pipeline and their parts."""
