"""`cached_property` without a lock, as `functools` has it since Python 3.12.

Before that, it holds a lock of the whole class while it computes: two threads of which each computes what
rests on a property that the other is at wait for each other for ever. Plans' nodes rest on each other, and
are planned by many threads. Without a lock two threads may compute the same value; one of them is kept.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:  # noqa: N801  it is used as the one of functools
        """A value that is computed once for an object; for pure ones only."""

        def __init__(self, compute: Any) -> None:
            self.compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            known = instance.__dict__
            value = self.compute(instance)
            return known.setdefault(self.name, value)


__all__ = ["cached_property"]
