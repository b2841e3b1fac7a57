"""Shared by batch engines: the tables, the steps, and functions that read and judge pages."""
