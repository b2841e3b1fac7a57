"""One question a file; each runs from the root of the checkout, as ``python benchmarks/NAME.py`` or with ``-m``.

notes/development.rst lists them; what they share is in ``lib``. Some read labelled pages that are
no part of the project: see ``lib.pack``.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
