"""Fuzzing: inputs that nobody wrote, read by the compiled kernel and by pure Python, which must agree."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
