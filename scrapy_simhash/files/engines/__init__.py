"""The code that DuckDB and Spark share: tables, steps, and functions that read and judge pages."""
