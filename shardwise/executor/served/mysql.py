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
from functools import lru_cache
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from shardwise.catalog.model import Column
from shardwise.catalog.types import Family, read_type
from shardwise.errors import (
    BudgetExceeded,
    Cancelled,
    DataError,
    Error,
    InternalError,
    NotSupportedError,
    ProgrammingError,
    Reason,
    SQLSyntaxError,
    UnknownName,
)
from shardwise.executor.backends.base import Columns, SourceConnection
from shardwise.executor.served.encoding import ascii_json, base64, has_wide, json_rows, latin, pieces
from shardwise.executor.served.mysql_values import PYTHON, durations, impossible_day, is_told_twice
from shardwise.executor.served.product import Objection, Relation, Statement, StreamColumn

_INLINE_BYTES: Final = 64 << 10
"""Up to here rows are a constant of the statement itself."""
_PIECE_BYTES: Final = 2 << 20
"""Escaped, and with quotes, a piece stays far below 16 MB, which a packet may be by default."""
_VARCHAR_MAX: Final = 16_383
_ROW_BYTES_MAX: Final = 60_000
_MATERIALIZED: Final = "LIMIT 18446744073709551615"
"""Makes a derived table one that is kept, and may get an index; else it is read again for every row."""

_TYPE = re.compile(
    r"\s*([A-Za-z]\w*(?: (?:PRECISION|VARYING|CHARACTER))?)\s*(?:\((.*?)\))?\s*(.*)", re.DOTALL
)
_TEXTS: Final = frozenset({"CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET"})
_OTHER_TEXTS: Final = frozenset({"JSON", "UUID", "INET4", "INET6", "NULL"})
_BYTES: Final = frozenset({"BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB"})
_WHOLE: Final = frozenset({"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "INTEGER", "BIGINT", "YEAR"})
_DOUBLES: Final = frozenset({"DOUBLE", "DOUBLE PRECISION", "REAL"})
_REALS: Final = _DOUBLES | {"FLOAT"}
_SIZES: Final = {"TINYINT": 1, "SMALLINT": 2, "MEDIUMINT": 3, "INT": 4, "BIGINT": 8}
_MOMENTS: Final = frozenset({"DATE", "TIME", "DATETIME", "TIMESTAMP"})
_DECIMALS: Final = frozenset({"DECIMAL", "NUMERIC", "DEC", "FIXED"})
_CAST_BACK: Final = frozenset({"UUID", "INET4", "INET6"})
"""Types that JSON_TABLE does not know."""


class _Type(NamedTuple):
    """A type taken apart."""

    name: str
    arguments: str
    rest: str

    @property
    def size(self) -> int:
        return int(self.arguments) if self.arguments.isdigit() else 0

    @property
    def is_text(self) -> bool:
        return self.name in _TEXTS or self.name in _OTHER_TEXTS

    @property
    def is_bytes(self) -> bool:
        return self.name in _BYTES


def _read(type_text: str) -> _Type:
    found = _TYPE.match(type_text)
    name, arguments, rest = found.groups() if found else (type_text, "", "")
    return _Type(" ".join(name.upper().split()), arguments or "", rest.upper())


class MySQL:
    """`served.product.Product`."""

    dialect = "mysql"
    label = "MySQL"
    text_type = "CHAR(255)"

    # -- what columns are ---------------------------------------------------------------------

    def described(self, connection: SourceConnection, sql: str, params: Mapping[str, Any]) -> Columns:
        columns = connection.execute(sql, params)
        while connection.fetchmany(1000):
            pass
        return columns

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
        ((*_, collations),) = [(*row[: len(names)], row[len(names) :]) for row in connection.fetchmany(2)]
        return tuple(
            StreamColumn(name, type_, collation if _read(type_).is_text else None)
            for name, (_, type_), collation in zip(names, described, collations, strict=False)
        )

    def readable(self, sql: str, columns: Sequence[StreamColumn]) -> str:
        """A DOUBLE with a count of decimals is shown rounded; CAST takes that off. FLOAT is the source's."""
        if not any(_read(c.type).name in _DOUBLES for c in columns):
            return sql
        items = []
        for column in columns:
            name = self.identifier(column.name)
            is_double = _read(column.type).name in _DOUBLES
            items.append(f"CAST({name} AS DOUBLE) AS {name}" if is_double else name)
        listed = ", ".join(self.identifier(column.name) for column in columns)
        return f"WITH shardwise_exact ({listed}) AS ({sql}\n) SELECT {', '.join(items)} FROM shardwise_exact"

    def as_answered(self, column: StreamColumn, type_text: str) -> StreamColumn:
        is_told = type_text and _read(type_text).name not in ("NULL", "ENUM", "SET")
        return column._replace(type=type_text) if is_told else column

    def kind(self, type_text: str) -> str:
        return kind_of(type_text)

    def is_unordered(self, kind: str) -> bool:
        """Its columns all have a collation."""
        return False

    def order_of(self, connection: SourceConnection) -> str:
        return ""

    def is_collated_as(self, found: str, declared: str) -> bool:
        return not declared or declared.strip('"') == found.strip('"')

    def is_declared_as(self, found: str, declared: str) -> bool:
        """Narrower whole numbers do, and a DECIMAL of the same scale: arithmetic is BIGINT's in any case."""
        if found == declared:
            return True
        if declared.partition("(")[0] in ("JSON", "ENUM", "SET") and found == "TEXT":
            return declared == "JSON"
        ours, theirs = _read(declared), _read(found)
        if ours.name in _SIZES and theirs.name in _SIZES:
            return ours.rest == theirs.rest and _SIZES[theirs.name] <= _SIZES[ours.name]
        if ours.name == theirs.name == "DECIMAL" and ours.rest == theirs.rest:
            (digits, scale), (has, of) = ours.arguments.split(","), theirs.arguments.split(",")
            return scale == of and int(has) <= int(digits)
        return False

    def schema(self, columns: Sequence[StreamColumn]) -> pa.Schema:
        return pa.schema([pa.field(c.name, pa.binary() if _is_bytes(c) else pa.string()) for c in columns])

    def declared(self, column: Column) -> StreamColumn:
        return StreamColumn(column.name, _declared(column.type), column.collation)

    def empty(self, columns: Sequence[StreamColumn]) -> str:
        return self._select(columns, "'[]'", {}) if columns else "SELECT 1 WHERE FALSE"

    def identifier(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

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
            if _read(column.type).name in ("DATE", "DATETIME", "TIMESTAMP"):
                for batch in batches:
                    day = impossible_day(batch.column(at))
                    if day is not None:
                        raise DataError(
                            f'the column "{column.name}" holds {day}, a day that there is not: it cannot be '
                            "moved to the merge",
                            hint=f"Write CAST({column.name} AS CHAR) in its place, or leave such rows out",
                        )
            if _read(column.type).name != "TIMESTAMP" or time_zone == "UTC":
                continue
            for batch in batches:
                if is_told_twice(batch.column(at), time_zone):
                    raise DataError(
                        f'the TIMESTAMP column "{column.name}" holds a moment of an hour that clocks in '
                        f"{time_zone} show twice: moved to the merge it could be another moment",
                        hint="Ask in UTC: write WITH (time_zone = 'UTC') in the catalog's header",
                    )

    def relation(
        self, name: str, columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch], *, stored: bool
    ) -> Relation:
        for column in columns:
            if _read(column.type).name == "GEOMETRY":
                raise NotSupportedError(
                    f'the column "{column.name}" of type {column.type} cannot be moved to the merge',
                    hint=f"Write ST_AsText({column.name}) in its place",
                )
        batches = [_with_nulls_of(self.schema(columns), batch) for batch in batches]
        if any(_read(column.type).name == "BIT" for column in columns):
            return self._with_bits(name, columns, batches)
        widths = _widths(columns, batches)
        total = sum(batch.nbytes for batch in batches)
        if total <= _INLINE_BYTES:
            table = pa.Table.from_batches(batches, self.schema(columns)).combine_chunks()
            whole = table.to_batches() or [pa.RecordBatch.from_pylist([], self.schema(columns))]
            key = f"shardwise_{name}"
            sql = self._select(columns, f":{key}", widths)
            return Relation(f"{sql} {_MATERIALIZED}" if stored else sql, {key: _document(whole[0], columns)})
        before, arms = [], []
        for number, piece in enumerate(pieces(batches, _PIECE_BYTES)):
            variable = f"@shardwise_{name}_{number}"
            before.append(Statement(f"SET {variable} = :rows", {"rows": _document(piece, columns)}))
            arms.append(self._select(columns, variable, widths))
        sql = " UNION ALL ".join(arms)
        return Relation(f"{sql} {_MATERIALIZED}" if stored and len(arms) == 1 else sql, {}, before)

    def _with_bits(
        self, name: str, columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch]
    ) -> Relation:
        """A BIT takes the bytes of the JSON text, which is in Latin-1 for that.

        Texts have \\u… then; those with characters beyond U+FFFF, which the server does not read so, are in
        base64. Their COLLATE counts as the statement's own: what compares them with another is refused.
        """
        wide = {i for i in range(len(columns)) if any(has_wide(batch.column(i)) for batch in batches)}
        widths = _widths(columns, batches)
        before, arms = [], []
        for number, piece in enumerate(pieces(batches, _PIECE_BYTES)):
            variable = f"@shardwise_{name}_{number}"
            rows = _document(piece, columns, is_latin=True, wide=wide).encode("latin-1")
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
        texts = _text_types(columns, widths)
        texts |= dict.fromkeys(wide & texts.keys(), "LONGTEXT")
        defined, items = [], []
        for at, column in enumerate(columns):
            name, cell = self.identifier(column.name), f"c{at}"
            defined.append(f"{cell} {texts.get(at) or _kept_as(column)} PATH '$[{at}]' ERROR ON ERROR")
            shown = _read_as(column, f"j.{cell}")
            if at in wide and at in texts:
                shown = f"CONVERT(FROM_BASE64({shown}) USING utf8mb4){_collate(column.collation)}"
            items.append(f"{shown} AS {name}")
        return (
            f"SELECT {', '.join(items)} FROM JSON_TABLE({rows}, '$[*]' COLUMNS ({', '.join(defined)})) AS j"
        )

    def columns_of_arrow(self, schema: pa.Schema) -> tuple[StreamColumn, ...]:
        return tuple(StreamColumn(f.name, _type_of_arrow(f)) for f in schema)

    def texts(self, batch: pa.RecordBatch, columns: Sequence[StreamColumn]) -> pa.RecordBatch:
        schema = self.schema(columns)
        arrays = [
            c.cast(pa.int8()).cast(f.type) if pa.types.is_boolean(c.type) else c.cast(f.type)
            for c, f in zip(batch.columns, schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    # -- results ------------------------------------------------------------------------------

    def arrow_type(self, type_text: str) -> pa.DataType:
        type_ = _read(type_text)
        unsigned = "UNSIGNED" in type_.rest
        if type_.name in _ARROW:
            return _ARROW[type_.name][unsigned]
        if type_.name in _DECIMALS:
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
        convert = PYTHON.get(_read(type_text).name)
        return values if convert is None else [None if v is None else convert(v) for v in values]

    def objection(self, error: BaseException) -> Objection | None:
        args = error.args
        if len(args) < 2 or not isinstance(args[0], int) or isinstance(error, OSError | Error):
            return None
        code, message = args[0], str(args[1])
        return None if code in _RIGHTS else _objection(code, message)


_RIGHTS: Final = frozenset((1142, 1143, 1227, 1370))
"""A right is missing: nothing is wrong with the statement."""


_ARROW: Final = {
    "TINYINT": (pa.int8(), pa.uint8()),
    "SMALLINT": (pa.int16(), pa.uint16()),
    "MEDIUMINT": (pa.int32(), pa.uint32()),
    "INT": (pa.int32(), pa.uint32()),
    "INTEGER": (pa.int32(), pa.uint32()),
    "BIGINT": (pa.int64(), pa.uint64()),
    "YEAR": (pa.int16(), pa.int16()),
    "FLOAT": (pa.float32(), pa.float32()),
    "DOUBLE": (pa.float64(), pa.float64()),
    "REAL": (pa.float64(), pa.float64()),
    "DATE": (pa.date32(), pa.date32()),
    "DATETIME": (pa.timestamp("us"), pa.timestamp("us")),
    "TIMESTAMP": (pa.timestamp("us"), pa.timestamp("us")),
    "TIME": (pa.duration("us"), pa.duration("us")),
    "NULL": (pa.null(), pa.null()),
}


# ------------------------------------------------------------------ how columns are shipped


def _with_nulls_of(schema: pa.Schema, batch: pa.RecordBatch) -> pa.RecordBatch:
    """A column of nothing but NULL is text, or bytes where its server has sorted it."""
    for at, field in enumerate(schema):
        cells = batch.column(at)
        if cells.type != field.type and cells.null_count == len(cells):
            batch = batch.set_column(at, field, pa.nulls(len(cells), field.type))
    return batch


@lru_cache(maxsize=4096)
def kind_of(type_text: str) -> str:
    """`Product.kind`."""
    written, _, collation = type_text.partition(" COLLATE ")
    type_ = _read(_declared(written))
    suffix = f" COLLATE {collation}" if collation else ""
    if type_.name in ("ENUM", "SET"):
        members = re.sub(r"'\s*,\s*'", "','", written.strip()[3:].lstrip("umUM").strip())
        return f"{type_.name}{members}{suffix}"
    unsigned = " UNSIGNED" if "UNSIGNED" in type_.rest else ""
    if type_.name in _WHOLE or type_.name in _REALS:
        name = {"INTEGER": "INT", "REAL": "DOUBLE", "DOUBLE PRECISION": "DOUBLE"}.get(type_.name, type_.name)
        return f"{name}{unsigned}"
    if type_.name in _DECIMALS:
        digits, _, scale = type_.arguments.partition(",")
        return f"DECIMAL({int(digits or 10)},{int(scale or 0)}){unsigned}"
    if type_.is_text:
        return f"{'CHAR' if type_.name == 'CHAR' else 'TEXT'}{suffix}"
    if type_.is_bytes:
        return f"BINARY({type_.arguments or 1})" if type_.name == "BINARY" else "BYTES"
    return f"{type_.name}({type_.arguments})" if type_.arguments not in ("", "0") else type_.name


def _is_bytes(column: StreamColumn) -> bool:
    type_ = _read(column.type)
    if type_.name in ("BIT", "GEOMETRY"):
        return True
    is_text = type_.is_text and type_.name != "NULL" and type_.name not in _CAST_BACK
    is_binary = is_text and column.collation == "binary"
    return type_.is_bytes or is_binary


def _declared(type_text: str) -> str:
    """A type that the catalog declares, as the server would say it of a result."""
    found = read_type(type_text, "mysql")
    if found is None:
        return type_text
    if found.family is Family.ENUM:
        return "ENUM"
    if found.name in ("BOOL", "BOOLEAN"):
        return "TINYINT(1)"
    if found.name == "SERIAL":
        return "BIGINT UNSIGNED"
    if found.name in ("CHAR", "CHARACTER", "NCHAR", "NATIONAL CHAR", "NATIONAL CHARACTER"):
        return f"CHAR({','.join(found.arguments) or 1})"
    if found.family is Family.TEXT and found.arguments:
        return f"VARCHAR({found.arguments[0]})"
    if found.family is Family.TEXT:
        return "LONGTEXT"
    if found.family is Family.BLOB:
        return "LONGBLOB"
    return type_text


def _kept_as(column: StreamColumn) -> str:
    """The type of what is neither text nor bytes."""
    type_ = _read(column.type)
    if type_.name != "BIT" and (_is_bytes(column) or type_.name in _CAST_BACK):
        return "LONGTEXT"
    if type_.name in _REALS:
        return type_.name
    arguments = f"({type_.arguments})" if type_.arguments else ""
    if type_.name in _DECIMALS and type_.arguments:
        digits, _, scale = type_.arguments.partition(",")
        arguments = f"({min(int(digits), 65)},{scale or 0})"
    return f"{type_.name}{arguments}{' UNSIGNED' if 'UNSIGNED' in type_.rest else ''}"


def _read_as(column: StreamColumn, cell: str) -> str:
    type_ = _read(column.type)
    if type_.name != "BIT" and _is_bytes(column):
        return f"CAST(FROM_BASE64({cell}) AS BINARY)"
    if type_.name in _CAST_BACK:
        return f"CAST({cell} AS {type_.name})"
    return cell


def _text_types(columns: Sequence[StreamColumn], widths: Mapping[str, int]) -> dict[int, str]:
    """The types of texts: VARCHARs while a row of them is small enough, the longest of them LONGTEXTs."""
    sizes = {}
    for at, column in enumerate(columns):
        type_ = _read(column.type)
        if not type_.is_text or _is_bytes(column) or type_.name in _CAST_BACK:
            continue
        size = max(type_.size, widths.get(column.name, 0))
        is_short = type_.name in ("CHAR", "VARCHAR", "ENUM", "SET", "NULL") and size <= _VARCHAR_MAX
        sizes[at] = max(size, 1) if is_short else 0
    left = _ROW_BYTES_MAX
    found = {}
    for at, size in sorted(sizes.items(), key=lambda item: item[1]):
        is_short = 0 < size * 4 <= left
        left -= size * 4 if is_short else 0
        found[at] = (f"VARCHAR({size})" if is_short else "LONGTEXT") + _collated(columns[at].collation)
    return found


def _collate(collation: str | None) -> str:
    return f" COLLATE {collation}" if collation and collation.startswith("utf8mb4") else ""


def _collated(collation: str | None) -> str:
    if not collation or collation == "binary":
        return ""
    return f" CHARACTER SET {collation.partition('_')[0]} COLLATE {collation}"


def _widths(columns: Sequence[StreamColumn], batches: Sequence[pa.RecordBatch]) -> dict[str, int]:
    """How many characters the longest text of each column has."""
    found: dict[str, int] = {}
    for batch in batches:
        for column, cells in zip(columns, batch.columns, strict=True):
            if _read(column.type).is_text and pa.types.is_string(cells.type) and len(cells):
                longest = pc.max(pc.utf8_length(cells)).as_py() or 0
                found[column.name] = max(found.get(column.name, 0), longest)
    return found


def _document(
    batch: pa.RecordBatch,
    columns: Sequence[StreamColumn],
    *,
    is_latin: bool = False,
    wide: Set[int] = frozenset(),
) -> str:
    cells, written = [], []
    for at, (column, given) in enumerate(zip(columns, batch.columns, strict=True)):
        type_ = _read(column.type)
        if type_.name == "BIT":
            cells.append(latin(given))
        elif pa.types.is_binary(given.type):
            cells.append(base64(given))
        elif at in wide:
            cells.append(base64(given.cast(pa.binary())))
        elif is_latin and type_.is_text:
            cells.append(ascii_json(given))
            written.append(at)
        else:
            cells.append(given)
    plain = [_read(column.type).name in _WHOLE - {"YEAR"} for column in columns]
    return json_rows(cells, [is_plain or at in written for at, is_plain in enumerate(plain)])


def _type_of_arrow(field: pa.Field) -> str:
    type_ = field.type
    for of_arrow, name in _TYPES_OF_ARROW:
        if type_ == of_arrow:
            return name
    if pa.types.is_boolean(type_):
        return "TINYINT(1)"
    if pa.types.is_decimal(type_):
        return f"DECIMAL({type_.precision},{max(type_.scale, 0)})"
    if pa.types.is_timestamp(type_) and type_.tz is None:
        return "DATETIME(6)"
    if pa.types.is_date(type_):
        return "DATE"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "LONGTEXT"
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        return "LONGBLOB"
    raise NotSupportedError(
        f'the registered column "{field.name}" is {type_}, which MySQL has no type for',
        hint="Register it as numbers, texts, dates or bytes",
    )


_TYPES_OF_ARROW: Final = tuple(
    (of_arrow, f"{name} UNSIGNED" if is_unsigned else name)
    for name, types in _ARROW.items()
    if name in ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE")
    for is_unsigned, of_arrow in enumerate(types)
)


# ------------------------------------------------------------------ what the server has against a statement


_QUOTED = re.compile(r"'((?:[^']|'')*)'")
_NEAR = re.compile(r"near '(.*)' at line (\d+)$", re.DOTALL)
_DATA: Final = frozenset((1264, 1265, 1292, 1365, 1366, 1367, 1406, 1411, 1426, 1427, 1441, 1690, 1242, 1241))
_DATA_5: Final = range(3140, 3160)
_CONNECTION: Final = frozenset((1040, 1044, 1045, 1053, 1077, 1079, 1152, 1158, 1159, 1160, 1161, 1184, 1203))
_TIMEOUT: Final = frozenset((1969, 3024))  # as of any statement


def _objection(code: int, message: str) -> Objection | None:
    named = _QUOTED.search(message)
    name = named[1] if named else ""
    if code in _CONNECTION or code in _TIMEOUT or 2000 <= code < 3000:
        return None
    if code == 1054:
        column = name.rpartition(".")[2]
        return Objection(UnknownName(f'column "{name}" does not exist'), near=column)
    if code in (1146, 1109):
        table = name.rpartition(".")[2]
        unknown = UnknownName(
            f'table "{table}" does not exist', reason=Reason.UNKNOWN_TABLE, sqlstate="42P01"
        )
        return Objection(unknown, near=table)
    if code == 1052:
        ambiguous = UnknownName(
            f'column "{name}" is ambiguous', reason=Reason.AMBIGUOUS_COLUMN, sqlstate="42702"
        )
        return Objection(ambiguous, near=name.rpartition(".")[2])
    if code in (1305, 1630):
        function = re.sub(r"^FUNCTION \S*?\.?(\w+) does not exist.*", r"\1", message)
        missing = UnknownName(
            f'function "{function}" does not exist', reason=Reason.NOT_SUPPORTED, sqlstate="42883"
        )
        return Objection(missing, near=function)
    if code == 1064:
        near = _NEAR.search(message)
        text = near[1] if near else ""
        where = f' near "{text.split(None, 1)[0]}"' if text.strip() else " at its end"
        return Objection(SQLSyntaxError(f"syntax error{where}"), near=text or None)
    if code == 1317:
        return Objection(Cancelled("the statement was cancelled"))
    if code in (1021, 1114, 1135, 1037, 1038, 1041, 1153):
        return Objection(
            BudgetExceeded(
                f"the merge needs more than its server allows: {message} ({code})",
                hint="Narrow the query, or raise max_allowed_packet or tmp_disk_table_size of the server",
                sqlstate="53200",
            )
        )
    if code in _DATA or code in _DATA_5 or 4030 <= code < 4050:
        sqlstate = "21000" if code in (1242, 1241) else "22000"
        return Objection(DataError(f"{message} ({code})", sqlstate=sqlstate))
    return Objection(ProgrammingError(f"{message} ({code})"))
