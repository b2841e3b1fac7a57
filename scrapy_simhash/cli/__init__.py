"""The command line, ``scrapy-simhash``.

``main`` lists the subcommands, parses the command line and runs a subcommand. Each subcommand is a module. The other
modules define shared options (``options``), inputs and outputs (``streams``), the subcommand for each kind of file
(``kinds``), the names of stores (``stores``), the lines of exports (``postings``), and the settings and spiders of a
Scrapy project (``project``). Only ``project`` and ``stores.key_function`` import Scrapy.
"""
