"""Names that the binder hands out, unique in one statement."""

from __future__ import annotations


class Names:
    """Unique names in one statement, near what the user wrote: t, t_2, t_3.

    >>> names = Names()
    >>> [names.fresh("t"), names.fresh("T"), names.fresh("t")]
    ['t', 'T_2', 't_3']
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def copy(self) -> Names:
        names = Names()
        names._taken = set(self._taken)
        return names

    def fresh(self, wanted: str) -> str:
        name, number = wanted, 1
        while name.lower() in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name.lower())
        return name
