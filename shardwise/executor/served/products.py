"""The products that describe and merge, by dialect: each imported, with its driver, when first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from shardwise.errors import InternalError
from shardwise.executor.served.product import Product

_PRODUCTS = {"mysql": "MySQL", "postgres": "Postgres"}
"""By the dialect, which is also the module's name."""


@cache
def product_of(dialect: str) -> Product:
    if dialect not in _PRODUCTS:
        raise InternalError(f'no server merges in the dialect "{dialect}"')
    import_module(f"shardwise.executor.backends.{dialect}")  # which says what to install, if it has to be
    made: Product = getattr(import_module(f"shardwise.executor.served.{dialect}"), _PRODUCTS[dialect])()
    return made
