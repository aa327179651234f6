"""The duckdb dialect on SQLite."""
