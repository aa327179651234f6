"""The sqlite dialect's way through the executor: rows as SQLite has them, merged by SQLite."""
