"""What ``scrapy-simhash`` and ``scrapy simhash`` do, one module a sub-command.

A command is a module that has ``add_arguments(parser)`` and ``run(options) -> int``, an exit status; ``cli`` lists
them. Those that search files of hashes know the index only: around them stand ``arguments`` (what several of them
take), ``hashes`` (lines in) and ``answers`` (what is written). Those about stores know one kind of store, and what a
posting is as text: ``places`` opens all kinds, ``postings`` and ``feeds`` read lines, ``pages`` reads pages, ``walk``
goes through a store, ``intake`` claims. Beside ``report`` stands ``explanation``: its sentences. For all there are
``input``, ``output`` (all lines or none), ``progress`` and ``failures`` (what ends a run). Only ``pages`` and
``project`` know Scrapy, and are imported when they are needed.
"""
