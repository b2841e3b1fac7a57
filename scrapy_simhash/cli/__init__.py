"""What ``scrapy-simhash`` and ``scrapy simhash`` do.

``commands`` lists them, with their examples. A command ``find-all`` has two functions in a module, its own or one
that it shares with others of its kind: ``add_find_all(parser)`` and ``run_find_all(options) -> int``, an exit status.
For all there are ``streams`` (input, output, what ends a run), ``progress`` (what is said), ``options`` (settings and
fields), ``places`` (what names a store) and ``stores`` (which wait, and are walked through). Only ``project`` and
``places.key_function`` know Scrapy, and import it when they are needed.
"""
