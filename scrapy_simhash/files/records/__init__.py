"""Stored pages: read and write files of several formats."""

from scrapy_simhash.files.records.reading import Records, read
from scrapy_simhash.files.records.record import Broken, Fields, PassedOver, Record
from scrapy_simhash.files.records.writing import open_writer

__all__ = ["Broken", "Fields", "PassedOver", "Record", "Records", "open_writer", "read"]
