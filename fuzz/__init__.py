"""Fuzzing: random inputs, for which the C extension and pure Python must return the same results."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
