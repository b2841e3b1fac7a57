"""The names of other projects that these pages link to, for ``sphinx.ext.intersphinx``.

Each file of ``docs/inventories`` has the address of a documentation in its first line, and one name in each other
line, as in the inventory that Sphinx publishes: name, domain and type, priority, location, displayed name. Only the
names that are used are there, as text that a person can read and correct: so the build needs no network and is the
same everywhere, and a rename elsewhere does not break it.
"""

from __future__ import annotations

import atexit
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

FOLDER = Path(__file__).parents[1] / "inventories"


def mapping() -> dict[str, tuple[str, str]]:
    """Return the ``intersphinx_mapping``: each project, its address, and its inventory in a temporary folder."""
    made = TemporaryDirectory()
    atexit.register(made.cleanup)
    found = {}
    for path in sorted(FOLDER.glob("*.txt")):
        address, _, names = path.read_text("utf-8").partition("\n")
        header = (
            f"# Sphinx inventory version 2\n# Project: {path.stem}\n# Version: \n# compressed using zlib\n"
        )
        compressed = Path(made.name) / f"{path.stem}.inv"
        compressed.write_bytes(header.encode() + zlib.compress(names.encode()))
        found[path.stem] = (address, str(compressed))
    return found


def settings() -> dict[str, str]:
    """Return the address of each setting of Scrapy that is in the inventory, by name."""
    address, *lines = (FOLDER / "scrapy.txt").read_text("utf-8").splitlines()
    rows = (line.split() for line in lines)
    return {row[0]: address + row[3].replace("$", row[0]) for row in rows if row[1] == "std:setting"}
