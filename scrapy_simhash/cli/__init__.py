"""The command line, ``scrapy-simhash``.

``main`` runs a verb. Each verb is a module; ``verbs`` lists them. ``options`` has shared options, ``streams`` inputs
and outputs, ``kinds`` the verb for each kind of file, ``stores`` the stores by name, ``postings`` the lines of
exports, and ``project`` the settings and spiders of a Scrapy project. Only ``project`` and ``stores.key_function``
import Scrapy.
"""
