"""Tables, how their rows are placed, and what is declared about tables: views, indexes, sequences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sqlglot import exp


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A table's column. `type` is the type as written ("DECIMAL(12,2)"), printed back unchanged.

    `default` is SQL text of the table's own dialect. `stored` says how a source without such a type (SQLite)
    holds the values of a date or timestamp; as ISO text if it does not say.
    A `virtual` one is in no physical table: each row of a member of a DIRECTORY has the member in it.
    `spelling` is what the table's EXACT clause says of it; only columns that `Catalog.table` gives have it.
    """

    name: str
    type: str
    nullable: bool = True
    collation: str | None = None
    default: str | None = None
    stored: Stored | None = None
    virtual: bool = False
    spelling: Spelling | None = None


class Spelling(StrEnum):
    """How the texts of an EXACT column are spelled: those that its collation takes as equal are one text, in
    all columns of that collation and spelling, and none ends with a blank.

    In LOWER and UPPER all are ASCII that prints, in that letter case: so is then what a constant may equal,
    however it is spelled. AS_IT_IS also promises that constants are spelled as the rows are.
    """

    AS_IT_IS = "EXACT"
    LOWER = "EXACT LOWER"
    UPPER = "EXACT UPPER"


class Stored(StrEnum):
    """A date or timestamp as a number: what has passed since 1970 in UTC, or a Julian day (SQLite's REAL)."""

    SECONDS = "EPOCH SECONDS"
    MILLISECONDS = "EPOCH MILLISECONDS"
    MICROSECONDS = "EPOCH MICROSECONDS"
    JULIAN = "JULIAN"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardKey:
    """What a sharding is applied to: one expression per key column of the sharding.

    A plain column is an `exp.Column`. `by_slot` says the expression *is* the slot
    (`ALSO BY SLOT (…)`) and is not hashed.
    """

    parts: tuple[exp.Expr, ...]
    by_slot: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(_plain(part) for part in self.parts))

    @staticmethod
    def of(*columns: str) -> ShardKey:
        """A key of plain columns."""
        return ShardKey(parts=tuple(exp.column(exp.to_identifier(name)) for name in columns))


def _plain(part: exp.Expr) -> exp.Expr:
    """A column without its quotes, which say nothing where letter case does not count."""
    is_plain = isinstance(part, exp.Column) and not part.table
    return exp.column(exp.to_identifier(part.name)) if is_plain else part


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharded:
    """Rows are spread by `sharding` of `keys[0]`; each further key places a row on the same slot.

    `virtual` are key columns that no physical table has (`tenant TEXT VIRTUAL`): the slot is their value.
    """

    sharding: str
    keys: tuple[ShardKey, ...]
    virtual: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedWith:
    """A child without the key: on the shard of the `parent` row that `column` = parent.`parent_column` names.

    `parent` is written as in the text, "schema.name" if it is in a schema.
    """

    parent: str
    column: str
    parent_column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scattered:
    """On the shards of `sharding` by no rule we know: never pruned, never colocated."""

    sharding: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The same rows on every shard of `on` (a sharding's name, or shard names)."""

    on: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """On one shard only."""

    on: str


Placement = Sharded | ShardedWith | Scattered | Reference | Single


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of the catalog; one named "*" stands for all tables (of `schema`) not declared otherwise.

    `columns` is None until they are known (from the text, the lock file, or read off a source). Those that
    `Catalog.table` gives end with the virtual ones; a declaration's own do not hold them.
    `named` is the template of the physical name, None where it is the table's own name.
    `unique` holds the primary key first (if any), then other unique keys, as column names; a key
    that does not contain the shard key is unique per shard only, unless it is in `unique_across`.
    `exact` are text columns by name, with their spelling.
    `created` tells CREATE TABLE from ATTACH TABLE.
    """

    name: str
    schema: str | None = None
    columns: tuple[Column, ...] | None = None
    placement: Placement
    named: str | None = None
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    unique_across: tuple[tuple[str, ...], ...] = ()
    exact: tuple[tuple[str, Spelling], ...] = ()
    created: bool = False
    drift: str | None = None

    def __post_init__(self) -> None:
        others = tuple(key for key in self.unique if key != self.primary_key)
        object.__setattr__(self, "unique", (self.primary_key, *others) if self.primary_key else others)
        ordered = tuple(pair for each in Spelling for pair in self.exact if pair[1] is each)
        object.__setattr__(self, "exact", ordered)

    @property
    def full_name(self) -> str:
        """The name with its schema, for messages."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    @property
    def is_wildcard(self) -> bool:
        return self.name == "*"

    def column(self, name: str) -> Column | None:
        """The column of that name, without regard to letter case; None if absent or not known."""
        wanted = name.casefold()
        return next((each for each in self.columns or () if each.name.casefold() == wanted), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedTable:
    """What was read off the sources about a table: it goes to `cluster.lock.sql`.

    `read_at` is an ISO 8601 text; `rows` an estimate over all shards.
    """

    name: str
    schema: str | None = None
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    rows: int | None = None
    read_at: str | None = None

    def __post_init__(self) -> None:
        others = tuple(key for key in self.unique if key != self.primary_key)
        object.__setattr__(self, "unique", (self.primary_key, *others) if self.primary_key else others)

    @property
    def full_name(self) -> str:
        """The name with its schema, for messages."""
        return f"{self.schema}.{self.name}" if self.schema else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A named query over the catalog's tables; `sql` is its text in the query's dialect.

    A name in it that is in no schema is one of the view's own schema first, then of the default one.
    """

    name: str
    schema: str | None = None
    sql: str
    columns: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        """The name with its schema, for messages."""
        return f"{self.schema}.{self.name}" if self.schema else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupIndex:
    """From the values of `columns` to the shard key of `table`.

    `index_table` and `index_columns` are set for one that the application keeps (ATTACH … USING TABLE).
    """

    name: str
    table: str
    columns: tuple[str, ...]
    unique: bool = False
    index_table: str | None = None
    index_columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnName:
    """A column of a table, both by name; `table` may hold a schema ("crm.contacts")."""

    table: str
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinIndex:
    """The pairs that join on `left` = `right`, with the `include` columns, sharded by `key`."""

    name: str
    left: ColumnName
    right: ColumnName
    include: tuple[ColumnName, ...] = ()
    sharding: str
    key: ColumnName


class Built(StrEnum):
    """How far an index is. Only a valid one may be used."""

    BUILDING = "BUILDING"
    VALID = "VALID"
    DROPPING = "DROPPING"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """How far the index `name` is: it goes to `cluster.lock.sql`.

    `built_at` is the ISO 8601 text of the moment that its rows are as of, `rows` how many it has on all
    shards, `fingerprint` what `index_tables.fingerprint` gave when it was built.
    """

    name: str
    state: Built
    built_at: str | None = None
    rows: int | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """Numbers unique over all shards, handed out in blocks of `cache`; kept on shard `on` or in the store."""

    name: str
    cache: int = 1000
    start: int = 1
    on: str | None = None
