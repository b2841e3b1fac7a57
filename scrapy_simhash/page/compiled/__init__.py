"""The compiled way from a page to its fingerprint: the twin of text/, features/ and fingerprint/ in one step.

Word lists and limits are not its own: :mod:`~scrapy_simhash.page.compiled.definition` hands the kernel those of the
pure Python modules. What the kernel does not cover (lone surrogates, entities left in a tree) comes back as None, and
the caller goes the pure way; so errors are those of the pure path too.
"""

from scrapy_simhash.page.compiled.reader import CompiledReader, FoldSettings, compiled_reader

__all__ = ["CompiledReader", "FoldSettings", "compiled_reader"]
