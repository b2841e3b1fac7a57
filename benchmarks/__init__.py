"""Benchmarks, one question per file: run ``python benchmarks/NAME.py`` in the root of the checkout.

Shared code is in ``lib``. Some programs read evaluation data sets, see ``lib.pack``.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
