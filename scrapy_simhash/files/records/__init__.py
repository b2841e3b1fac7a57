"""Pages that lie on disk, from any kind of file and back into it."""

from scrapy_simhash.files.records.feeds import Fields
from scrapy_simhash.files.records.reading import Records, read
from scrapy_simhash.files.records.record import Broken, PassedOver, Record
from scrapy_simhash.files.records.writing import open_writer

__all__ = ["Broken", "Fields", "PassedOver", "Record", "Records", "open_writer", "read"]
