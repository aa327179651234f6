"""MySQL and MariaDB: streams are shipped as JSON, which JSON_TABLE reads with the types that it is told.

    WITH f1 AS (SELECT j.id, CAST(FROM_BASE64(j.b) AS BINARY) AS b
        FROM JSON_TABLE(@shardwise_f1_0, '$[*]' COLUMNS (
            id BIGINT PATH '$[0]' ERROR ON ERROR, b LONGTEXT PATH '$[1]' ERROR ON ERROR)) AS j)

Values are strings in it, which the server converts as it would constants; only whole numbers are numbers. A
text that is longer than its column would be cut off without a word, so that no length is less than what there
is. Large streams are set as user variables first, in pieces that fit into a packet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from typing import Any, Final, Protocol, runtime_checkable

import pyarrow as pa

from shardwise.catalog.model import Column
from shardwise.catalog.spoken import spoken
from shardwise.errors import DataError, Error, InternalError, NotSupportedError
from shardwise.executor.backends.base import Columns, SourceConnection
from shardwise.executor.served.encoding import has_more_than_latin, pieces
from shardwise.executor.served.mysql_objections import objection_of
from shardwise.executor.served.mysql_rows import (
    in_its_collation,
    is_bytes,
    is_kept,
    json_document,
    read_back,
    text_types,
    text_widths,
    type_in_json,
    with_any_decimals,
    with_nulls_of,
)
from shardwise.executor.served.mysql_types import (
    ARROW,
    DECIMALS,
    DOUBLES,
    REALS,
    SIZES,
    as_declared,
    as_shown,
    is_shown_otherwise,
    kind_of,
    taken_apart,
    type_of_arrow,
)
from shardwise.executor.served.mysql_values import PYTHON, durations, impossible_day, is_told_twice
from shardwise.executor.served.product import Objection, Relation, Statement, StreamColumn

_INLINE_BYTES: Final = 64 << 10
"""Up to here rows are a constant of the statement itself."""
_PIECE_BYTES: Final = 2 << 20
"""Escaped, and with quotes, a piece stays far below 16 MB, which a packet may be by default."""
_TEXT: Final = re.compile(r"'|\b(LIKE|REGEXP|RLIKE)\b", re.IGNORECASE)
_CALL: Final = re.compile(r"(\w+)\s*\(")
_NUMBERS_ONLY: Final = frozenset(
    (
        *("sum", "count", "avg", "min", "max", "std", "stddev", "stddev_pop", "stddev_samp", "any_value"),
        *("variance", "var_pop", "var_samp", "round", "truncate", "floor", "ceil", "ceiling", "abs", "sign"),
        *("sqrt", "power", "pow", "exp", "ln", "log", "mod", "coalesce", "ifnull", "nullif", "if"),
        *("greatest", "least", "row_number", "rank", "dense_rank", "over", "partition", "by", "order"),
        *("select", "from", "where", "and", "or", "not", "on", "in", "exists", "as", "join", "union", "all"),
        *("any", "distinct", "when", "then", "else", "case", "having", "limit", "values", "with"),
    )
)
"""What is written before a parenthesis where numbers stay numbers."""
_MATERIALIZED: Final = "LIMIT 18446744073709551615"
"""Makes a derived table one that is kept, and may get an index; else it is read again for every row."""


@runtime_checkable
class _Shows(Protocol):
    """A connection that says of a result's columns how they are shown, too."""

    def shown(self) -> tuple[str, ...]: ...


class MySQL:
    """`served.product.Product`."""

    dialect = "mysql"
    label = "MySQL"
    text_type = "CHAR(255)"

    # -- what columns are ---------------------------------------------------------------------

    def described(self, connection: SourceConnection, sql: str, params: Mapping[str, Any]) -> Columns:
        columns = connection.execute(sql, params)
        types = connection.shown() if isinstance(connection, _Shows) else [type_ for _, type_ in columns]
        while connection.fetchmany(1000):
            pass
        return tuple(
            (name, shown if taken_apart(shown).name in REALS else type_)
            for (name, type_), shown in zip(columns, types, strict=True)
        )

    def wants_keys(self, error: BaseException) -> bool:
        return False

    def described_only(self, connection: SourceConnection, sql: str, params: Mapping[str, Any]) -> Columns:
        raise InternalError("MySQL describes nothing that it does not run")

    def stream_columns(
        self, connection: SourceConnection, sql: str, params: Mapping[str, Any], names: Sequence[str]
    ) -> tuple[StreamColumn, ...]:
        listed = ", ".join(map(self.identifier, names))
        asked = ", ".join(f"COLLATION(x.{self.identifier(name)})" for name in names)
        probe = f"WITH x ({listed}) AS ({sql}\n) SELECT x.*, {asked} FROM (SELECT 1) AS one_row LEFT JOIN x"
        described = connection.execute(f"{probe} ON FALSE", params)
        types = connection.shown() if isinstance(connection, _Shows) else [type_ for _, type_ in described]
        ((*_, collations),) = [(*row[: len(names)], row[len(names) :]) for row in connection.fetchmany(2)]
        return tuple(
            StreamColumn(name, type_, collation if taken_apart(type_).is_text else None)
            for name, type_, collation in zip(names, types, collations, strict=False)
        )

    def readable(self, sql: str, columns: Sequence[StreamColumn]) -> str:
        """A DOUBLE with a count of decimals is shown rounded; CAST takes that off. FLOAT is the source's.

        A BIT that is computed, such as a MAX, is written as a number, and as bits once it is stored.
        """
        names = {taken_apart(column.type).name for column in columns}
        if not names & (DOUBLES | {"BIT"}):
            return sql
        items = []
        for column in columns:
            name = self.identifier(column.name)
            is_double = taken_apart(column.type).name in DOUBLES
            items.append(f"CAST({name} AS DOUBLE) AS {name}" if is_double else name)
        listed = ", ".join(self.identifier(column.name) for column in columns)
        first = f"WITH shardwise_exact ({listed}) AS ({sql}\n)"
        if "BIT" in names:
            first += f", shardwise_stored AS (SELECT * FROM shardwise_exact {_MATERIALIZED})"
        return f"{first} SELECT {', '.join(items)} FROM shardwise_{'stored' if 'BIT' in names else 'exact'}"

    def as_answered(self, column: StreamColumn, type_text: str) -> StreamColumn:
        is_told = type_text and taken_apart(type_text).name not in ("NULL", "ENUM", "SET")
        ours, theirs = taken_apart(column.type), taken_apart(type_text)
        if ours.name == theirs.name and is_shown_otherwise(column.type):
            # It is not said of what is read exactly; a DECIMAL's digits are those of the answer.
            return column._replace(type=f"{type_text} ZEROFILL") if ours.name in DECIMALS else column
        return column._replace(type=type_text) if is_told else column

    def kind(self, type_text: str) -> str:
        return kind_of(type_text)

    def is_unordered(self, kind: str) -> bool:
        """Its columns all have a collation."""
        return False

    def order_of(self, connection: SourceConnection) -> str:
        return ""

    def encoding_of(self, connection: SourceConnection) -> str:
        """Each column has its own."""
        return ""

    def is_collated_as(self, found: str, declared: str) -> bool:
        return not declared or declared.strip('"') == found.strip('"')

    def is_declared_as(self, found: str, declared: str) -> bool:
        """Narrower whole numbers do, and a DECIMAL of the same scale: arithmetic is BIGINT's in any case.

        How a number is shown, as a DOUBLE(10,2) is, the catalog has to say: a text of it is planned by that.
        """
        (found, here), (declared, said) = as_shown(found), as_shown(declared)
        if here != said:
            return False
        if found == declared:
            return True
        if declared.partition("(")[0] in ("JSON", "ENUM", "SET") and found == "TEXT":
            return declared == "JSON"
        ours, theirs = taken_apart(declared), taken_apart(found)
        if ours.name in SIZES and theirs.name in SIZES:
            return ours.rest == theirs.rest and SIZES[theirs.name] <= SIZES[ours.name]
        if ours.name == theirs.name == "DECIMAL" and ours.rest == theirs.rest:
            (digits, scale), (has, of) = ours.arguments.split(","), theirs.arguments.split(",")
            return scale == of and int(has) <= int(digits)
        return False

    def schema(self, columns: Sequence[StreamColumn]) -> pa.Schema:
        return pa.schema([pa.field(c.name, pa.binary() if is_bytes(c) else pa.string()) for c in columns])

    def declared(self, column: Column) -> StreamColumn:
        return StreamColumn(column.name, as_declared(column.type), column.collation)

    def empty(self, columns: Sequence[StreamColumn]) -> str:
        return self._select(columns, "'[]'", {}) if columns else "SELECT 1 WHERE FALSE"

    def identifier(self, name: str) -> str:
        return spoken(self.dialect).quoted(name)

    def folded(self, name: str, *, is_quoted: bool) -> str:
        return name

    # -- rows to the server -------------------------------------------------------------------

    def check_moments(
        self, columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch], time_zone: str
    ) -> None:
        """A TIMESTAMP of the hour that a clock shows twice in autumn, and a day that there is not.

        The server would make 0000-00-00 of such a day where it is shipped, without a word.
        """
        for at, column in enumerate(columns):
            if taken_apart(column.type).name in ("DATE", "DATETIME", "TIMESTAMP"):
                for batch in batches:
                    day = impossible_day(batch.column(at))
                    if day is not None:
                        raise DataError(
                            f'the column "{column.name}" holds {day}, a day that there is not: it cannot be '
                            "moved to the merge",
                            hint=f"Write CAST({column.name} AS CHAR) in its place, or leave such rows out",
                        )
            if taken_apart(column.type).name != "TIMESTAMP" or time_zone == "UTC":
                continue
            for batch in batches:
                if is_told_twice(batch.column(at), time_zone):
                    raise DataError(
                        f'the TIMESTAMP column "{column.name}" holds a moment of an hour that clocks in '
                        f"{time_zone} show twice: moved to the merge it could be another moment",
                        hint="Ask in UTC: write WITH (time_zone = 'UTC') in the catalog's header",
                    )

    def check_shown(
        self, columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch], merge_sql: str
    ) -> None:
        """A count of decimals would round what is computed of such a column: it is left off, and no text is
        made of it."""
        if not _TEXT.search(merge_sql) and _NUMBERS_ONLY.issuperset(map(str.lower, _CALL.findall(merge_sql))):
            return
        for at, column in enumerate(columns):
            if not is_kept(column, [batch.column(at) for batch in batches]):
                raise NotSupportedError(
                    f'"{column.name}" is computed of a DOUBLE or FLOAT with a count of decimals, and of it a '
                    "text may be made where rows of several shards meet: it would have other digits",
                    hint="Make the text in a subquery of its table alone, or round it: ROUND(…, 2)",
                )

    def relation(
        self, name: str, columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch], *, stored: bool
    ) -> Relation:
        for column in columns:
            if taken_apart(column.type).name == "GEOMETRY":
                raise NotSupportedError(
                    f'the column "{column.name}" of type {column.type} cannot be moved to the merge',
                    hint=f"Write ST_AsText({column.name}) in its place",
                )
        batches = [with_nulls_of(self.schema(columns), batch) for batch in batches]
        columns = [
            column if is_kept(column, [batch.column(at) for batch in batches]) else with_any_decimals(column)
            for at, column in enumerate(columns)
        ]
        if any(taken_apart(column.type).name == "BIT" for column in columns):
            return self._with_bits(name, columns, batches)
        widths = text_widths(columns, batches)
        total = sum(batch.nbytes for batch in batches)
        if total <= _INLINE_BYTES:
            table = pa.Table.from_batches(batches, self.schema(columns)).combine_chunks()
            whole = table.to_batches() or [pa.RecordBatch.from_pylist([], self.schema(columns))]
            key = f"shardwise_{name}"
            sql = self._select(columns, f":{key}", widths)
            return Relation(
                f"{sql} {_MATERIALIZED}" if stored else sql, {key: json_document(whole[0], columns)}
            )
        before, arms = [], []
        for number, piece in enumerate(pieces(batches, _PIECE_BYTES)):
            variable = f"@shardwise_{name}_{number}"
            before.append(Statement(f"SET {variable} = :rows", {"rows": json_document(piece, columns)}))
            arms.append(self._select(columns, variable, widths))
        sql = " UNION ALL ".join(arms)
        return Relation(f"{sql} {_MATERIALIZED}" if stored and len(arms) == 1 else sql, {}, before)

    def _with_bits(
        self, name: str, columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch]
    ) -> Relation:
        """A BIT takes the bytes of the JSON text, which is in Latin-1 for that.

        Texts have \\u… then; those with characters that are not of Latin-1, of which the server would make an
        empty text without a word, are in base64. Their COLLATE counts as the statement's own: what compares
        them with another is refused.
        """
        wide = {i for i in range(len(columns)) if any(has_more_than_latin(b.column(i)) for b in batches)}
        widths = text_widths(columns, batches)
        before, arms = [], []
        for number, piece in enumerate(pieces(batches, _PIECE_BYTES)):
            variable = f"@shardwise_{name}_{number}"
            rows = json_document(piece, columns, is_latin=True, wide=wide).encode("latin-1")
            before.append(Statement(f"SET {variable} = CONVERT(:rows USING latin1)", {"rows": rows}))
            arms.append(self._select(columns, variable, widths, wide=wide))
        sql = " UNION ALL ".join(arms) or self._select(columns, "'[]'", widths)
        return Relation(f"{sql} {_MATERIALIZED}", {}, before)

    def _select(
        self,
        columns: Sequence[StreamColumn],
        rows: str,
        widths: Mapping[str, int],
        *,
        wide: Set[int] = frozenset(),
    ) -> str:
        """The rows of a JSON text as a query; texts of the columns `wide` are in base64."""
        texts = text_types(columns, widths)
        texts |= dict.fromkeys(wide & texts.keys(), "LONGTEXT")
        defined, items = [], []
        for at, column in enumerate(columns):
            name, cell = self.identifier(column.name), f"c{at}"
            defined.append(f"{cell} {texts.get(at) or type_in_json(column)} PATH '$[{at}]' ERROR ON ERROR")
            shown = read_back(column, f"j.{cell}")
            if at in wide and at in texts:
                shown = in_its_collation(f"CONVERT(FROM_BASE64({shown}) USING utf8mb4)", column.collation)
            items.append(f"{shown} AS {name}")
        return (
            f"SELECT {', '.join(items)} FROM JSON_TABLE({rows}, '$[*]' COLUMNS ({', '.join(defined)})) AS j"
        )

    def columns_of_arrow(self, schema: pa.Schema) -> tuple[StreamColumn, ...]:
        return tuple(StreamColumn(f.name, type_of_arrow(f)) for f in schema)

    def texts(self, batch: pa.RecordBatch, columns: Sequence[StreamColumn]) -> pa.RecordBatch:
        schema = self.schema(columns)
        arrays = [
            c.cast(pa.int8()).cast(f.type) if pa.types.is_boolean(c.type) else c.cast(f.type)
            for c, f in zip(batch.columns, schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    # -- results ------------------------------------------------------------------------------

    def arrow_type(self, type_text: str) -> pa.DataType:
        type_ = taken_apart(type_text)
        unsigned = "UNSIGNED" in type_.rest
        if type_.name in ARROW:
            return ARROW[type_.name][unsigned]
        if type_.name in DECIMALS:
            digits, _, scale = type_.arguments.partition(",")
            precision, decimals = int(digits or 10), int(scale or 0)
            return pa.decimal128(min(precision, 38), decimals) if decimals <= 38 else pa.string()
        if type_.is_bytes or type_.name in ("BIT", "GEOMETRY"):
            return pa.binary()
        return pa.string()

    def is_open(self, type_text: str) -> bool:
        return False

    def closed(self, type_text: str, cells: Sequence[pa.Array]) -> str:
        return type_text

    def as_arrow(self, cells: pa.Array, type_text: str, type_: pa.DataType) -> pa.Array:
        return durations(cells) if pa.types.is_duration(type_) else cells.cast(type_)

    def as_python(self, cells: pa.Array, type_text: str, time_zone: str) -> Sequence[Any]:
        values: list[Any] = cells.to_pylist()
        convert = PYTHON.get(taken_apart(type_text).name)
        return values if convert is None else [None if v is None else convert(v) for v in values]

    def objection(self, error: BaseException) -> Objection | None:
        args = error.args
        if len(args) < 2 or not isinstance(args[0], int) or isinstance(error, OSError | Error):
            return None
        code, message = args[0], str(args[1])
        return objection_of(code, message)
