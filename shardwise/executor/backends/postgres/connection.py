"""A request's connection: its statements in one transaction of one snapshot, rows as the wanted types."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import psycopg
import pyarrow as pa
from psycopg import abc
from psycopg.adapt import Transformer
from psycopg.pq import Format
from psycopg.pq.abc import PGresult

from shardwise.executor.backends.base import Columns, Outdated
from shardwise.executor.backends.postgres import bulk
from shardwise.executor.backends.postgres.kinds import TEXT, Reading, readings
from shardwise.executor.backends.postgres.session import CHUNK_ROWS, HAS_CHUNKS, Field, Prepared, Session
from shardwise.executor.backends.postgres.tables import columns_of
from shardwise.executor.backends.postgres.values import bound, written

Rows = list[tuple[Any, ...]]
Values = list[bytes | None]
Take = Callable[[Callable[[Session], None]], tuple[Session, None]]
_TEXTS = "texts"
_QUICK_S = 0.02
"""What takes longer gains nothing by being sent a little earlier."""


class PostgresConnection:
    """One request, on a `Session` in a transaction that begins when it is asked something.

    `take` gives a session that was begun, `give_back` takes it when the request is over. A statement that the
    session knows, and that was quick, goes out together with what begins the transaction, if the caller
    `assumes` what the server would have said first.
    """

    def __init__(
        self, take: Take, time_zone: str, types: TypeNames, give_back: Callable[[Session], None]
    ) -> None:
        self._take = take
        self._time_zone = time_zone
        self._types = types
        self._give_back = give_back
        self._lock = threading.Lock()
        self._taken: Session | None = None
        self._version: str | None = None
        self._assumed: object = None
        self._is_closed = self._is_cancelled = False
        self._readings: Sequence[Reading] | None = None
        self._prepared: Prepared | None = None
        self._transformer: abc.Transformer | None = None
        self._results: deque[PGresult] = deque()
        """Rows that have arrived."""
        self._rows: Rows = []
        """Those of them that were read, and not asked for yet."""
        self._started: _Started | None = None
        self._executed: _Statement | None = None
        """What `arrow` may go on with."""
        self._is_over = True
        self._started_s = 0.0
        self._chunks = 0

    def version(self) -> object:
        self._ready()
        return self._version

    def encoding(self) -> str:
        """The database's, which the server says when it is connected to."""
        session = self._taken or self._ready()
        return (session.pgconn.parameter_status(b"server_encoding") or b"").decode()

    def assumes(self, version: object) -> bool:
        if self._version is None:
            self._assumed = version
            return version is not None
        return version == self._version

    def columns(self, table: str) -> Columns:
        return columns_of(self._ready(), table)

    def has_schema(self, name: str) -> bool:
        return bool(self._ready().query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [name]))

    def describe(self, sql: str, params: Mapping[str, Any]) -> Columns:
        session = self._ready()
        prepared, _ = self._prepare(session, sql, params)
        return self._columns(session, prepared, None)

    def execute(self, sql: str, params: Mapping[str, Any], wanted: Columns | None = None) -> Columns:
        asked = (sql, params, wanted)
        started = self._started or self._started_at_once(asked)
        self._started = None
        if started is not None and started.asked == asked:
            self._executed = asked
            return started.columns
        session = self._ready()
        self._check_assumed()
        prepared, values = self._prepare(session, sql, params)
        columns = self._columns(session, prepared, wanted)
        self._begin_reading(session, prepared)
        try:
            session.start(prepared, values)
            self._receive_first()
        except psycopg.errors.FeatureNotSupported as error:
            if not _is_outdated(error):
                raise
            self._forget()
            return self.execute(sql, params, wanted)
        self._executed = asked
        return columns

    def fetchmany(self, count: int) -> Rows:
        self._executed = None
        found = self._taken_rows(count)
        return found if self._readings is None else self._converted(found)

    def arrow(
        self, sql: str, params: Mapping[str, Any], batch_rows: int, wanted: Columns | None = None
    ) -> pa.RecordBatchReader:
        if self._executed == (sql, params, wanted):
            return self._as_arrow(batch_rows)
        session = self._ready()
        self._check_assumed()
        prepared, _ = self._prepare(session, sql, params)
        text = written(session, sql, params) if params else sql
        if wanted is None:
            types = self._types.of(session, prepared.fields)
            return bulk.as_text(session, text, prepared.fields, types, batch_rows)
        columns = readings(prepared.fields, wanted, self._time_zone)
        return bulk.typed(session, text, columns, batch_rows)

    def interrupt(self) -> None:
        with self._lock:  # not once another request has the session
            if self._is_closed:
                return
            self._is_cancelled = True
            if self._taken is not None:
                self._taken.cancel()

    def close(self) -> None:
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            session, self._taken = self._taken, None
        if session is not None:
            self._give_back(session)

    # -- inside -------------------------------------------------------------------------------

    def _ready(self) -> Session:
        """In a transaction that goes on, with nothing under way."""
        session = self._taken
        if session is None:
            return self._begun(self._begin)
        self._executed = None
        session.settle()
        if not self._is_over:
            self._drop_rows()
            self._is_over, self._started = True, None
        if not session.is_ready:
            session.rollback()
            self._begin(session)
        return session

    def _begun(self, begin: Callable[[Session], None]) -> Session:
        """A session of its own, on which `begin` was called; `interrupt` reaches it meanwhile."""
        try:
            session, _ = self._take(lambda session: begin(self._reached(session)))
        except BaseException:
            with self._lock:
                self._taken = None
            raise
        return session

    def _reached(self, session: Session) -> Session:
        with self._lock:
            self._taken = session
            if self._is_cancelled:
                session.cancel()
        return session

    def _begin(self, session: Session) -> None:
        self._started = None
        self._version = session.begin(self._time_zone)

    def _check_assumed(self) -> None:
        """Raises Outdated where the caller took another version for granted."""
        assumed, self._assumed = self._assumed, None
        if assumed is not None and assumed != self._version:
            raise Outdated

    def _started_at_once(self, asked: _Statement) -> _Started | None:
        """Begins, and starts the statement in the same go if the session knows it, and it was quick.

        Where nothing is written on the server the transaction ends in the same go, too. Else it stays: where
        the version is not as assumed and these are all its rows, they are kept, and the tables are looked at
        in the transaction that they are of.
        """
        if self._taken is not None or self._assumed is None:
            return None
        session = self._begun(lambda session: self._begin_with(session, asked))
        started = self._started
        if started is None:
            return None
        was_still, session.is_still = session.is_still, self._assumed == self._version
        try:
            self._receive_first()
        except psycopg.OperationalError:  # it was cancelled, or the connection is lost
            raise
        except psycopg.Error as error:
            self._started = None
            if _is_outdated(error):
                self._forget()
                return None
            self._check_assumed()  # where tables may be others, so may be what is wrong
            raise
        if was_still and not session.is_still:
            self._started = None  # its transaction is over, or will be
        self._check_assumed()
        if was_still:
            self._assumed = self._version  # if another transaction begins, for another statement
        return started

    def _forget(self) -> None:
        """Tables are others than when statements were parsed."""
        assert self._taken is not None
        self._taken.rollback()
        self._taken.forget()

    def _begin_with(self, session: Session, asked: _Statement) -> None:
        sql, params, wanted = asked
        session.finish_ending()
        text, oids, values = bound(session, sql, params)
        prepared = session.known(text, oids)
        if prepared is None or not prepared.is_quick or not session.may_be_sent_ahead:
            self._begin(session)
            return
        columns = self._columns(session, prepared, wanted)
        if self._key(session) not in prepared.memo:  # made only where the session is in the time zone
            self._begin(session)
            return
        self._begin_reading(session, prepared)
        self._version = session.begin_with(self._time_zone, prepared, values, ends=session.is_still)
        self._started = _Started(asked, columns)

    def _prepare(self, session: Session, sql: str, params: Mapping[str, Any]) -> tuple[Prepared, Values]:
        text, oids, values = bound(session, sql, params)
        return session.prepare(text, oids), values

    def _columns(self, session: Session, prepared: Prepared, wanted: Columns | None) -> Columns:
        if wanted is None:
            self._readings = None
            known: Columns | None = prepared.memo.get("columns")
            if known is None:
                types = self._types.of(session, prepared.fields)
                known = prepared.memo["columns"] = tuple((f.name, types[f]) for f in prepared.fields)
            return known
        before = prepared.memo.get("readings")
        if before is None or before[0] != (wanted, self._time_zone):
            made = readings(prepared.fields, wanted, self._time_zone)
            before = prepared.memo["readings"] = (wanted, self._time_zone), made
        self._readings = before[1]
        return wanted

    def _begin_reading(self, session: Session, prepared: Prepared) -> None:
        """The statement is about to start."""
        self._prepared, self._chunks, self._started_s = prepared, 0, time.monotonic()
        self._transformer = self._loading(session, prepared, self._key(session))
        self._drop_rows()
        self._is_over = False

    def _drop_rows(self) -> None:
        self._results.clear()
        self._rows = []

    def _as_arrow(self, batch_rows: int) -> pa.RecordBatchReader:
        """The rows of the statement that was started."""
        self._executed = None
        session, prepared = self._taken, self._prepared
        assert session is not None
        assert prepared is not None
        self._transformer = self._loading(session, prepared, _TEXTS)
        columns = self._texts(len(prepared.fields), batch_rows)
        if self._readings is not None:
            return bulk.typed_texts(columns, self._readings)
        types = [type_ for _, type_ in self._columns(session, prepared, None)]
        return bulk.texts(columns, prepared.fields, dict(zip(prepared.fields, types, strict=True)))

    def _texts(self, width: int, batch_rows: int) -> Iterator[bulk.Texts]:
        """The rows, so many at a time, as columns. They are turned chunk by chunk: of many rows the garbage
        collector would make it three times as long."""
        columns: bulk.Texts = [[] for _ in range(width)]
        count = 0
        while rows := self._taken_rows(min(CHUNK_ROWS, batch_rows - count)):
            for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
                column.extend(cells)
            count += len(rows)
            if count == batch_rows:
                yield columns
                columns, count = [[] for _ in range(width)], 0
        if count:
            yield columns

    def _loading(self, session: Session, prepared: Prepared, key: str) -> abc.Transformer:
        """psycopg's values where none are wanted, else the server's text."""
        known: abc.Transformer | None = prepared.memo.get(key)
        if known is None:
            known = prepared.memo[key] = Transformer(session.con)
            oids = [TEXT if key == _TEXTS else field.oid for field in prepared.fields]
            known.set_loader_types(oids, Format.TEXT)
        return known

    def _key(self, session: Session) -> str:
        """What a transformer is made for: values show moments in the time zone."""
        if self._readings is not None:
            return _TEXTS
        return f"values in {session.zone_of(self._time_zone)}"

    def _receive_first(self) -> None:
        """The first rows; fewer than a whole chunk are all, or an error follows them."""
        self._receive()
        if HAS_CHUNKS and self._results and self._results[0].ntuples < CHUNK_ROWS:
            self._receive()

    def _receive(self) -> None:
        """Waits for some more rows."""
        assert self._taken is not None
        result = self._taken.next_rows()
        if result is None:
            self._is_over = True
            if self._prepared is not None:
                took_s = time.monotonic() - self._started_s
                self._prepared.is_quick = self._chunks <= 1 and took_s < _QUICK_S
            return
        self._chunks += 1
        self._results.append(result)

    def _taken_rows(self, count: int) -> Rows:
        """The next rows, as `_transformer` reads them."""
        rows = self._rows
        while len(rows) < count and (self._results or not self._is_over):
            if self._results:
                rows += self._read(self._results.popleft())
            else:
                self._receive()
        found, self._rows = rows[:count], rows[count:]
        return found

    def _read(self, result: PGresult) -> Rows:
        assert self._transformer is not None
        self._transformer.set_pgresult(result, set_loaders=False)
        rows: Rows = self._transformer.load_rows(0, result.ntuples, tuple)
        self._transformer.set_pgresult(None, set_loaders=False)
        return rows

    def _converted(self, rows: Rows) -> Rows:
        if not rows or self._readings is None:
            return rows
        columns = zip(self._readings, zip(*rows, strict=True), strict=True)
        return list(zip(*(reading.rows(cells) for reading, cells in columns), strict=True))


def _is_outdated(error: psycopg.Error) -> bool:
    """Whether a statement must be parsed anew."""
    return isinstance(error, psycopg.errors.FeatureNotSupported) and "cached plan" in str(error)


_Statement = tuple[str, Mapping[str, Any], Columns | None]


class _Started(NamedTuple):
    """A statement that was started before it was to be executed."""

    asked: _Statement
    columns: Columns


class TypeNames:
    """The names of types, as the server writes them; asked for once each. Threads may share it."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], str] = {}

    def of(self, session: Session, fields: tuple[Field, ...]) -> Mapping[Field, str]:
        missing = sorted({(field.oid, field.modifier) for field in fields} - self._known.keys())
        if missing:
            asked = ", ".join(f"format_type({oid}, {modifier})" for oid, modifier in missing)
            (result,) = session.simple(f"SELECT {asked}")
            for i, pair in enumerate(missing):
                self._known[pair] = (result.get_value(0, i) or b"").decode()
        return {field: self._known[field.oid, field.modifier] for field in fields}
