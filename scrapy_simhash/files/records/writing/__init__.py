"""Records back into files: of the kind that they came from, or of another one."""

from scrapy_simhash.files.records.writing.open_writer import open_writer
from scrapy_simhash.files.records.writing.writer import Marks, Writer

__all__ = ["Marks", "Writer", "open_writer"]
