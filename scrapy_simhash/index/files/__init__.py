"""Indexes as files: saved whole or not at all, loaded, merged, searched where they lie."""

from scrapy_simhash.index.files.format import DamagedIndexFile, IndexFileError, NewerIndexFile, NotAnIndexFile
from scrapy_simhash.index.files.mapped import MappedIndex
from scrapy_simhash.index.files.saved import load, merge, save, update

__all__ = [
    "DamagedIndexFile",
    "IndexFileError",
    "MappedIndex",
    "NewerIndexFile",
    "NotAnIndexFile",
    "load",
    "merge",
    "save",
    "update",
]
