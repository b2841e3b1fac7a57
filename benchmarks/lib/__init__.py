"""Shared code and parts of large programs; no program is imported here."""
