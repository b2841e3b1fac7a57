"""A Scrapy project that crawls the magazine: three lines of settings are all it knows of scrapy-simhash."""
