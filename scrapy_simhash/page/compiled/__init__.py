"""Read a page with the C extension, which combines the steps of text/, features/ and fingerprint/.

:mod:`~scrapy_simhash.page.compiled.definition` passes the word lists and limits of the pure Python modules to the
extension. For input that the extension does not support (lone surrogates, unresolved entities) it returns None, and
the caller reads the page in pure Python, which also raises the errors.
"""

from scrapy_simhash.page.compiled.reader import CompiledReader, FoldSettings, compiled_reader

__all__ = ["CompiledReader", "FoldSettings", "compiled_reader"]
