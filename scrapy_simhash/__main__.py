"""Run ``python -m scrapy_simhash`` like the command ``scrapy-simhash``."""

import sys

from scrapy_simhash.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
