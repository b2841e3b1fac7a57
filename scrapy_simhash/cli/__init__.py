"""The command line, ``scrapy-simhash``.

``main`` runs a verb. Each verb is a module; ``verbs`` lists them. ``options`` has the options that several share,
``streams`` inputs and outputs, ``kinds`` which verb reads which file, ``stores`` the stores by their names,
``postings`` the lines of exports, and ``project`` the settings and spiders of a Scrapy project. Only ``project`` and
``stores.key_function`` import Scrapy.
"""
