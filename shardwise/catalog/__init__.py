"""The catalog: what tables there are, on which shards, and by which rule; and its language."""

from shardwise.catalog.files import load, lock_path, save_lock
from shardwise.catalog.language import is_management, parse, to_sql
from shardwise.catalog.model import Catalog

__all__ = ["Catalog", "is_management", "load", "lock_path", "parse", "save_lock", "to_sql"]
