"""Pages that lie on disk, from any kind of file and back into it."""

from scrapy_simhash.records.fields import Fields
from scrapy_simhash.records.reading import Records, read
from scrapy_simhash.records.record import Broken, PassedOver, Record
from scrapy_simhash.records.writing import open_writer

__all__ = ["Broken", "Fields", "PassedOver", "Record", "Records", "open_writer", "read"]
