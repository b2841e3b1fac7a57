"""A Scrapy project that crawls the magazine; three lines of its settings enable scrapy-simhash."""
