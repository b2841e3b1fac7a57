"""Fuzzing: random inputs, which C and Python must read alike."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
