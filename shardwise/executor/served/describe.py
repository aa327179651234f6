"""What a statement's columns are in the mysql and postgres dialects, from a server of the dialect.

    describer.describe("SELECT id, count(*) FROM t")  =>  (("id", "BIGINT"), ("count(*)", "BIGINT"))

The server is asked the user's own text over the catalog's tables, empty: so it gives the columns their names
and types, and finds the mistakes. A table of which the server has a partition is that one, of no rows; any
other is made of the types that the catalog says.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from sqlglot import exp

from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.model import Catalog, Table, View
from shardwise.errors import Error, InternalError, Reason
from shardwise.executor.backends.base import Columns, SourceConnection
from shardwise.executor.describe import HIDDEN_COLUMNS
from shardwise.executor.reading import Reader
from shardwise.executor.served.direct import ServedDirect
from shardwise.executor.served.form import TextForm
from shardwise.executor.served.home import Home, Homes
from shardwise.executor.served.product import StreamColumn
from shardwise.executor.served.strict import AlikeTables
from shardwise.executor.served.texts import Text, replaced, with_items
from shardwise.plan.partitions import OWN
from shardwise.plan.run import Fragment, Request

Read = Callable[[str], exp.Expr]
"""A text of the dialect as a tree, whose names know where they were written."""

_CACHE_MAX = 512
_KEY_MAX = 4096


class ServedDescriber:
    """Threads may share it. A describer is made for one version of a catalog."""

    def __init__(self, homes: Homes, read: Read, read_own: Read, *, time_zone: str = "UTC") -> None:
        """`read` is for what a user may write, `read_own` for fragments."""
        self._homes = homes
        self._catalog: Catalog = homes.catalog
        self.product = homes.product
        self._read = read
        self._read_own = read_own
        self._time_zone = time_zone
        self._alike = AlikeTables(homes.product)
        self._lock = threading.Lock()
        self._known: OrderedDict[object, Any] = OrderedDict()

    def describe(
        self,
        sql: str,
        params: Any = (),
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        schema: str | None = None,
        near: str | None = None,
    ) -> Columns:
        """Names and the server's types of a query's columns; raises ours for what is wrong with the text.

        `sql` has parameters as the dialect's generator writes them. `near` is a source that is asked anyhow.
        """
        tree = self._read(sql)
        with self._homes.open(near, self._time_zone) as home:
            text = self._over_empty(sql, tree, home.name, locals or {})
            try:
                found = self.product.described(home.connection, text.sql, params or {})
            except Exception as error:
                again = self._with_keys(error, home, sql, tree, params or {})
                if again is None:
                    raise self._objection(error, home, text, tree, locals or {}) from error
                found = again
        return tuple((text.as_written(name), type_) for name, type_ in found)

    def local(self, name: str, data: Any) -> Columns:
        """The columns that a registered table has in the merge."""
        return tuple((column.name, column.type) for column in self.product.columns_of_arrow(data.schema))

    def stream(self, fragment: Fragment, *, passes: bool = False) -> tuple[None, TextForm]:
        """A fragment's stream: in text form. Of one that just passes it need not be known what it is."""
        if passes:
            return None, TextForm(self.product, None, self._alike, fragment.order)
        key = _key(fragment)
        with self._lock:
            known = self._known.get(key) if key is not None else None
        columns = known if known is not None else self._stream_columns(fragment)
        if key is not None:
            with self._lock:
                self._known[key] = columns
                while len(self._known) > _CACHE_MAX:
                    self._known.popitem(last=False)
        return None, TextForm(self.product, columns, self._alike, fragment.order)

    def columns_of(self, fragment: Fragment) -> Columns:
        """A fragment's columns, with the server's types."""
        found = self._stream_columns(fragment)
        return tuple((column.name, column.type) for column in found)

    def direct(self, reader: Reader, request: Request, columns: Columns) -> ServedDirect:
        """A statement that one shard answers whole."""
        return ServedDirect(reader, request, columns, self.product, self._alike)

    def batches(self, sql: str, params: Mapping[str, Any], form: TextForm) -> list[pa.RecordBatch]:
        """The statement's answer where all tables are empty."""
        with self._homes.open(None, self._time_zone) as home:
            text = self._over_empty(sql, self._read_own(sql), home.name, {})
            shown = text.sql if form.columns is None else self.product.readable(text.sql, form.columns)
            return list(home.connection.arrow(shown, params, 1024))

    def connect(self, sql: str) -> SourceConnection:
        """What answers a statement where all tables are empty."""
        raise InternalError("a source of the server's dialect is never a member that may be missing")

    def normal_type(self, type_: str) -> str | None:
        """Types are as they are written."""
        return type_

    def arrow_type(self, type_: str) -> pa.DataType | None:
        return self.product.arrow_type(type_)

    def close(self) -> None:
        """It holds nothing."""

    # -- inside -------------------------------------------------------------------------------

    def _stream_columns(self, fragment: Fragment) -> tuple[StreamColumn, ...]:
        names = [name for name, _ in fragment.columns]
        near = fragment.source_of(fragment.route.shards[0]) if fragment.route.shards else None
        with self._homes.open(near, self._time_zone) as home:
            text = self._over_empty(fragment.sql, self._read_own(fragment.sql), home.name, {})
            return self.product.stream_columns(home.connection, text.sql, fragment.params, names)

    def _over_empty(self, sql: str, tree: exp.Expr, source: str, locals: Mapping[str, Any]) -> Text:  # noqa: A002
        words = {word.casefold() for word in _WORD.findall(sql)}
        hidden = tuple(name for name in HIDDEN_COLUMNS if name in words)
        emptied = _Emptied(self, source, locals, hidden)
        text = replaced(sql, tree, emptied.item, self.product.identifier)
        return with_items(text, emptied.queries, self.product.identifier)

    def _with_keys(
        self, error: Exception, home: Home, sql: str, tree: exp.Expr, params: Mapping[str, Any]
    ) -> Columns | None:
        """What the server says of the statement over the tables themselves, whose keys it knows; it is not
        run. None: it says the same, or has not all of them."""
        if not self.product.wants_keys(error):
            return None
        is_whole = True

        def item(table: exp.Table, _: bool) -> str | None:
            nonlocal is_whole
            found = self.relation(table)
            there = self._partition(found, home.name) if isinstance(found, Table) else None
            is_whole = is_whole and there is not None
            return there

        text = replaced(sql, tree, item, OWN[self.product.dialect].table, is_named=False)
        if not is_whole:
            return None
        try:
            return self.product.described_only(home.connection, text.sql, params)
        except Exception as again:
            if home.objection(again) is None:
                raise
            return None

    def read(self, sql: str) -> exp.Expr:
        """A text's tree."""
        return self._read(sql)

    def relation(self, table: exp.Table) -> Table | View | None:
        """What of the catalog a table's name means; an index's too, which a fragment may read."""
        return self._catalog.stored(table.name, table.db or None)

    def empty_local(self, data: Any) -> str:
        """A query of a registered table's columns without rows."""
        return self.product.empty(self.product.columns_of_arrow(data.schema))

    def empty(self, table: Table, source: str, hidden: tuple[str, ...]) -> str:
        """A query of the table without rows, with these hidden columns."""
        there = self._partition(table, source)
        columns = table.columns or ()
        if there is None or not columns or any(column.virtual for column in columns):
            texts = (StreamColumn(name, "VARCHAR(255)") for name in hidden)
            return self.product.empty([*map(self.product.declared, columns), *texts])
        items = [self.product.identifier(column.name) for column in columns]
        items += [
            f"CAST('' AS {self.product.text_type}) AS {self.product.identifier(name)}" for name in hidden
        ]
        return f"SELECT {', '.join(items)} FROM {OWN[self.product.dialect].table(there)} LIMIT 0"

    def _partition(self, table: Table, source: str) -> str | None:
        """A physical table of it on that source; none while a DIRECTORY's members are not known."""
        if self._catalog.open_sharding(table) is not None:
            return None
        shard = self._catalog.shard_on(source) or self._catalog.find_shard(source)
        if shard is None or shard.name not in self._catalog.homes(table):
            return None
        return next(iter(self._catalog.partitions(table, shard.name)), None)

    def _objection(
        self,
        error: Exception,
        home: Home,
        text: Text,
        tree: exp.Expr,
        locals: Mapping[str, Any],  # noqa: A002
    ) -> Error:
        found = home.objection(error)
        if found is None:
            return home.translate(error)
        ours = found.error
        ours.position = text.position(found.at) if found.at is not None else text.find(found.near or "")
        name = ours.message.split('"')[1] if '"' in ours.message else ""
        if ours.reason == Reason.UNKNOWN_COLUMN:
            ours.hint = ours.hint or did_you_mean(name.rpartition(".")[2], self._columns_in(tree))
        if ours.reason == Reason.UNKNOWN_TABLE:
            ours.hint = did_you_mean(name, [*(t.name for t in self._catalog.tables()), *locals])
        return ours

    def _columns_in(self, tree: exp.Expr) -> list[str]:
        """The columns of the tables that a statement names: to suggest one of them."""
        found = (self._catalog.table(table.name, table.db or None) for table in tree.find_all(exp.Table))
        return [column.name for table in found if isinstance(table, Table) for column in table.columns or ()]


class _Emptied:
    """The WITH items that stand for one text's tables."""

    def __init__(
        self,
        describer: ServedDescriber,
        source: str,
        locals: Mapping[str, Any],  # noqa: A002
        hidden: tuple[str, ...],
    ) -> None:
        self.queries: dict[str, str] = {}
        self._describer = describer
        self._source = source
        self._locals = locals
        self._hidden = hidden
        self._names: dict[tuple[str, str, bool], str] = {}

    def item(self, table: exp.Table, is_named: bool) -> str | None:
        """`texts.Item`."""
        key = (table.db, table.name, is_named)
        if key not in self._names:
            query = self._query(table)
            if query is None:
                return None
            own = self._describer.product.folded(table.name, is_quoted=bool(table.this.args.get("quoted")))
            name = self._names[key] = own if is_named else f"shardwise_{len(self._names) + 1}"
            self.queries[name] = query
        return self._names[key]

    def _query(self, table: exp.Table) -> str | None:
        describer = self._describer
        if not table.db and table.name in self._locals:
            return describer.empty_local(self._locals[table.name])
        found = describer.relation(table)
        if isinstance(found, View):
            return self._view(found)
        return None if found is None else describer.empty(found, self._source, self._hidden)

    def _view(self, view: View) -> str:
        product = self._describer.product
        tree = self._describer.read(view.sql)
        text = replaced(view.sql, tree, self.item, product.identifier, is_named=False).sql
        if not view.columns:
            return text
        names = ", ".join(map(product.identifier, view.columns))
        return f"WITH shardwise_view ({names}) AS ({text}) SELECT * FROM shardwise_view"


_WORD = re.compile(r"\w+")


def _key(fragment: Fragment) -> object:
    """What a stream's columns depend on: a value's own type is one of them. None: too long to be kept."""
    shards = fragment.route.shards
    if not fragment.params:
        return fragment.sql, shards[:1]
    values = repr(sorted(fragment.params.items()))
    return (fragment.sql, shards[:1], values) if len(values) <= _KEY_MAX else None
