"""What the nodes do not model."""

from __future__ import annotations


class Unmodelled(Exception):  # noqa: N818  not an error: the statement is then kept whole
    """`what` the statement has that no node stands for."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
