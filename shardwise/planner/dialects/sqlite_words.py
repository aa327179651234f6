"""SQLite's functions, by what may be done with a call. Data only."""

from __future__ import annotations

from typing import Final

from shardwise.planner.families import words

SCALARS: Final = words(
    """
    + abs char coalesce concat concat_ws date datetime format glob hex ifnull iif instr json json_array
    json_array_length json_extract json_object json_quote json_type json_valid julianday length like
    likelihood likely lower ltrim nullif octet_length printf quote replace round rtrim sign soundex strftime
    substr substring time trim typeof unhex unicode unixepoch unlikely upper acos acosh asin asinh atan atan2
    atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power radians sin sinh sqrt tan
    tanh trunc
    """
)
"""Functions that give the same for the same arguments."""

FALLIBLE: Final = words(
    """
    abs json json_array json_array_length json_extract json_object json_quote json_type json_valid like glob
    """
)
"""Those of them that raise for some arguments, so that a row that is not asked must not be."""

WINDOWS: Final = words("lag lead first_value last_value nth_value ntile percent_rank cume_dist")
"""Functions of windows alone."""
