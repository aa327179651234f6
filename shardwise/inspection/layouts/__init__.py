"""Layouts of other systems: their configuration files as catalogs (`translate`)."""

from shardwise.inspection.layouts.draft import Draft
from shardwise.inspection.layouts.reading import translate

__all__ = ["Draft", "translate"]
