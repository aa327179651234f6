"""Catalogs read off live sources: `import_tables` fills the lock file, `check` finds what is not as it says.

Both take an `Opener`, a function that opens a source by name, so that they need no session.
"""

from shardwise.inspection.checking import Extent, check
from shardwise.inspection.findings import Finding, Kind
from shardwise.inspection.importing import Imported, Opener, import_tables
from shardwise.inspection.physical import SourceReader

__all__ = ["Extent", "Finding", "Imported", "Kind", "Opener", "SourceReader", "check", "import_tables"]
