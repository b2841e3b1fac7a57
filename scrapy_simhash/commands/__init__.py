"""What ``scrapy-simhash`` does, one module a sub-command; none of it knows of Scrapy or of a page.

A command is a module that has ``add_arguments(parser)`` and ``run(options) -> int``, an exit status; ``cli`` lists
them. Around them stand ``arguments`` (what several of them take), ``hashes`` (lines in), ``answers`` (what is
written), ``output`` (lines out, all of them or none), ``progress``, and ``failures`` (what ends a run).
"""
