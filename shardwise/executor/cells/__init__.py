"""What a loosely typed file holds, as the catalog's types: each value exactly, or an error that shows it.

Files, in reading order: `base.py` (a `Kind`: one type), `numbers.py`, `texts.py`, `times.py`, `kinds.py`
(which type is which kind), `decode.py` (rows → tuples or Arrow).
"""

from shardwise.executor.cells.base import NUMBERS, Kind, Misfit
from shardwise.executor.cells.decode import ENCODED, Decoder, MisfitError, decoder
from shardwise.executor.cells.kinds import kind_of

__all__ = ["ENCODED", "NUMBERS", "Decoder", "Kind", "Misfit", "MisfitError", "decoder", "kind_of"]
