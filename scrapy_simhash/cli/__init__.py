"""What ``scrapy-simhash`` and ``scrapy simhash`` do.

``verbs`` lists them. Each verb is a module with `add_arguments(parser)`, `run(options)`, which returns an exit
status, and `EXAMPLE`. For all there are ``streams`` (input, output, what is said), ``options`` (pages, fields,
settings) and ``stores`` (what names a store, and how it is walked through). Only ``project`` and
``stores.key_function`` know Scrapy, and import it when they are needed.
"""
