"""The code that batch engines share: tables, steps, and functions that read and judge pages."""
