"""What an index holds, as a query over its base tables and as one over its index table.

    CREATE JOIN INDEX visits ON clicks.page = pages.url SHARD BY by_customer (clicks.customer_id)
        =>  SELECT l.page, r.url, l.customer_id FROM clicks AS l JOIN pages AS r ON l.page = r.url
            SELECT clicks_page, pages_url, clicks_customer_id, _shard FROM visits

Both run as any query does, in the catalog's dialect: what joins, and what equals what, is as it is there.
Values that Arrow or a driver would change are read as the text that the dialect's own CAST makes of them, on
both sides. A lookup index's rows are not made distinct by the query, for a collation would take two spellings
as one that are on different shards: that is done later, byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from shardwise.catalog.index_tables import Index, IndexTable, index_table
from shardwise.catalog.model import Catalog, Column, JoinIndex, LookupIndex, Scattered, Sharded, Table
from shardwise.catalog.types import Family, read_type, type_family
from shardwise.errors import InternalError

SHARD = "_shard"

_NATURAL = {
    "duckdb": frozenset(
        {
            *(Family.INT, Family.BOOL, Family.FLOAT, Family.DECIMAL, Family.TEXT, Family.BLOB),
            *(Family.DATE, Family.TIME, Family.TIMESTAMP, Family.TIMESTAMPTZ),
        }
    ),
    "postgres": frozenset({Family.INT, Family.TEXT}),
}
_WIDE = frozenset(
    {"HUGEINT", "INT128", "UHUGEINT", "UINT128", "BIGNUM", "VARINT", "TIMESTAMP_NS", "TIME_NS"}
    | {"TIMETZ", "TIME WITH TIME ZONE", "BPCHAR"}
)
"""DuckDB's types that Python or another product has no value for."""
_AS_TEXT_IN_MYSQL = frozenset({Family.DATE, Family.TIME, Family.TIMESTAMP, Family.TIMESTAMPTZ})
"""A zero date, a day of February that there is not: Arrow has none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """`wanted` gives the base tables' rows: a column for each of the index table's, then those that place a
    row: `places`, which are columns of the index table again, as values, or the base row's shard. `there`
    gives the index table's own rows, and last the shard of each.

    `origins` are the base tables' columns that the index table's come from; `are_text` says which are read as
    text. `identity` are the positions of columns that tell one entry from another: what else differs is a
    wrong value.
    """

    index: Index
    made: IndexTable
    wanted: str
    there: str
    places: tuple[Column, ...]
    origins: tuple[tuple[Table, Column], ...]
    are_text: tuple[bool, ...]
    identity: tuple[int, ...]
    is_distinct: bool

    @property
    def table(self) -> Table:
        return self.made.table

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.table.columns or ()

    def there_on(self, shards: Sequence[str], dialect: str) -> str:
        """`there`, of these shards only."""
        names = [exp.Literal.string(shard) for shard in shards]
        return (
            f"{self.there} WHERE {exp.In(this=_column(SHARD, 't'), expressions=names).sql(dialect=dialect)}"
        )

    @property
    def is_placed_by_base(self) -> bool:
        """Whether a row is on the shard of its base row."""
        return isinstance(self.table.placement, Scattered)

    @property
    def searched(self) -> tuple[tuple[str, ...], ...]:
        """By which columns rows are found: no column of the first is NULL."""
        if isinstance(self.index, LookupIndex):
            return (self.made.searched,)
        index = self.index
        names = [self.made.column_for(c.table, c.column) for c in (index.left, index.right, index.key)]
        return tuple((name,) for name in dict.fromkeys(names) if name is not None)


def shape_of(catalog: Catalog, index: Index) -> Shape:
    """Raises NotSupportedError, with the reason, where there can be no index table."""
    made = index_table(catalog, index)
    origins = _origins(catalog, index, made)
    dialect = catalog.dialect
    are_text = tuple(is_read_as_text(column.type, dialect) for _, column in origins)
    places = _places(made.table)
    joined = isinstance(index, JoinIndex)
    lefts = {index.left.table.casefold()} if isinstance(index, JoinIndex) else set[str]()
    aliases = ["r" if joined and table.full_name.casefold() not in lefts else "l" for table, _ in origins]
    owns = made.table.columns or ()
    selected = [
        _read(_column(column.name, alias), is_text, dialect).as_(own.name, quoted=True)
        for own, (_, column), alias, is_text in zip(owns, origins, aliases, are_text, strict=True)
    ]
    by_name = {
        own.name: _column(column.name, alias)
        for own, (_, column), alias in zip(owns, origins, aliases, strict=True)
    }
    if isinstance(made.table.placement, Scattered):
        selected.append(_column(SHARD, "l").as_("place", quoted=True))
    else:
        selected += [by_name[c.name].as_(f"place by {c.name}", quoted=True) for c in places]
    wanted = _from(catalog, index, exp.select(*selected))
    there = exp.select(
        *(
            _read(_column(own.name, "t"), is_text, dialect).as_(own.name, quoted=True)
            for own, is_text in zip(owns, are_text, strict=True)
        ),
        _column(SHARD, "t").as_("place", quoted=True),
    ).from_(_table(made.table, "t"))
    return Shape(
        index=index,
        made=made,
        wanted=wanted.sql(dialect=dialect),
        there=there.sql(dialect=dialect),
        places=places,
        origins=origins,
        are_text=are_text,
        identity=_identity(index, made),
        is_distinct=isinstance(index, LookupIndex),
    )


def is_read_as_text(type_text: str, dialect: str) -> bool:
    """Whether a column's values are read as text, which the product reads back as they were."""
    family = type_family(type_text, dialect)
    if dialect == "sqlite":
        return False  # its values are read as the file holds them
    if dialect == "mysql":
        return family in _AS_TEXT_IN_MYSQL
    found = read_type(type_text, dialect)
    is_wide = dialect == "duckdb" and found is not None and found.name in _WIDE
    return is_wide or family not in _NATURAL[dialect]


def twice(catalog: Catalog, index: LookupIndex) -> str:
    """How many values of a UNIQUE index's columns more than one row has, by the columns' own equality."""
    base = _base(catalog, index.table)
    columns = [_column(_declared(base, name).name, "l") for name in index.columns]
    below = (
        exp.select(*(each.copy().as_(f"c{n}", quoted=True) for n, each in enumerate(columns)))
        .from_(_table(base, "l"))
        .where(_are_there(columns))
        .group_by(*(each.copy() for each in columns))
        .having("COUNT(*) > 1")
    )
    return exp.select(exp.Count(this=exp.Star())).from_(below.subquery("q")).sql(dialect=catalog.dialect)


def look_for_twice(index: LookupIndex) -> str:
    """What a person may ask to see them."""
    columns = ", ".join(index.columns)
    return f"SELECT {columns}, count(*) FROM {index.table} GROUP BY {columns} HAVING count(*) > 1"


# ------------------------------------------------------------------ the parts


def _from(catalog: Catalog, index: Index, select: exp.Select) -> exp.Select:
    if isinstance(index, LookupIndex):
        base = _base(catalog, index.table)
        columns = [_column(_declared(base, name).name, "l") for name in index.columns]
        return select.from_(_table(base, "l")).where(_are_there(columns))
    left, right = _base(catalog, index.left.table), _base(catalog, index.right.table)
    on = exp.EQ(
        this=_column(_declared(left, index.left.column).name, "l"),
        expression=_column(_declared(right, index.right.column).name, "r"),
    )
    return select.from_(_table(left, "l")).join(_table(right, "r"), on=on)


def _are_there(columns: Sequence[exp.Expr]) -> exp.Expr:
    """No column is NULL: `=` finds none that is."""
    return exp.and_(*(exp.Not(this=exp.Is(this=each.copy(), expression=exp.Null())) for each in columns))


def _origins(catalog: Catalog, index: Index, made: IndexTable) -> tuple[tuple[Table, Column], ...]:
    """The base table's column for each of the index table's; the left one where two share one."""
    found: dict[str, tuple[Table, Column]] = {}
    names = [index.table] if isinstance(index, LookupIndex) else [index.left.table, index.right.table]
    for name in names:
        base = _base(catalog, name)
        for column in base.columns or ():
            own = made.column_for(name, column.name)
            if own is not None:
                found.setdefault(own, (base, column))
    return tuple(found[column.name] for column in made.table.columns or ())


def _places(table: Table) -> tuple[Column, ...]:
    """The columns that place a row: none where its base row's shard does."""
    if not isinstance(table.placement, Sharded):
        return ()
    names = [part.name.casefold() for part in table.placement.keys[0].parts]
    by_name = {column.name.casefold(): column for column in table.columns or ()}
    return tuple(by_name[name] for name in names)


def _identity(index: Index, made: IndexTable) -> tuple[int, ...]:
    if isinstance(index, LookupIndex):
        names = {*made.searched}
    else:
        columns = (index.left, index.right, index.key)
        names = {made.column_for(each.table, each.column) or "" for each in columns}
    return tuple(n for n, column in enumerate(made.table.columns or ()) if column.name in names)


def _read(column: exp.Expr, is_text: bool, dialect: str) -> exp.Expr:
    if not is_text:
        return column
    return exp.cast(column, exp.DataType.build("CHAR" if dialect == "mysql" else "TEXT", dialect=dialect))


def _column(name: str, alias: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=alias)


def _table(table: Table, alias: str) -> exp.Expr:
    return exp.alias_(exp.table_(table.name, db=table.schema, quoted=True), alias, table=True)


def _base(catalog: Catalog, name: str) -> Table:
    found = catalog.relation(name)
    if not isinstance(found, Table):
        raise InternalError(f'"{name}" is no table')  # the catalog's checks have seen to it
    return found


def _declared(table: Table, name: str) -> Column:
    found = table.column(name)
    if found is None:
        raise InternalError(f'table "{table.full_name}" has no column "{name}"')
    return found
