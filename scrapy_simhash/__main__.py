"""``python -m scrapy_simhash``: the same as the command ``scrapy-simhash``."""

import sys

from scrapy_simhash.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
