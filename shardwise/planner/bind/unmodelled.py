"""What the nodes do not model."""

from __future__ import annotations


class Unmodelled(Exception):
    """`what` the statement has that no node stands for."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
