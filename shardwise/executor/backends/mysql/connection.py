"""A request's connection: its statement's rows as the driver's values, or as the wanted types.

Without `wanted` types the session is in the time zone that was asked for, and rows are the driver's own. With
them it is in UTC, so that a TIMESTAMP, which is a moment to the server, comes as one.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import pyarrow as pa

from shardwise.errors import Cancelled, InterfaceError
from shardwise.executor.backends.base import Columns
from shardwise.executor.backends.binding import MYSQL, inlined
from shardwise.executor.backends.mysql import tables
from shardwise.executor.backends.mysql.bulk import BulkResult
from shardwise.executor.backends.mysql.bulk.values import hint_of
from shardwise.executor.backends.mysql.driver import (
    AS_IT_COMES,
    DRIVERS_OWN,
    TEXT,
    Converters,
    Result,
    is_open,
    row,
    rows,
)
from shardwise.executor.backends.mysql.errors import is_lost
from shardwise.executor.backends.mysql.floats import Rewritten, exact
from shardwise.executor.backends.mysql.literals import literals
from shardwise.executor.backends.mysql.server import Server
from shardwise.executor.backends.mysql.session import Session
from shardwise.executor.backends.mysql.settings import Settings
from shardwise.executor.backends.mysql.types import is_float, shown_type, type_text
from shardwise.executor.backends.mysql.values import decoder
from shardwise.executor.cells import Decoder, MisfitError

Rows = list[tuple[Any, ...]]
_KNOWN_S = 60.0
_LEAVES_NOTHING = re.compile(r"\s*(SELECT|WITH|\()(?!.*(@|GET_LOCK))", re.IGNORECASE | re.DOTALL)
_FEW_ROWS = 100
_FEW_S = 0.02
_KILLED_WITHIN_S = 2.0
_CANCELLED = "the statement was cancelled"
_REWRITTEN = Rewritten()


class MySQLConnection:
    """One request at a time, on a session that goes back to its server's others when it is closed."""

    def __init__(self, server: Server, settings: Settings, time_zone: str) -> None:
        self._server = server
        self._settings = settings
        self._time_zone = time_zone
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._opening: Session | None = None
        self._result: Result | None = None
        self._bulk: BulkResult | None = None
        self._decoder: Decoder | None = None
        self._columns: Columns = ()
        self._fields: tuple[Any, ...] = ()
        self._floats: frozenset[int] = frozenset()
        self._begun: tuple[str, Mapping[str, Any], Columns | None] | None = None
        self._is_cancelled = self._is_closed = self._is_spoilt = False

    def version(self) -> object:
        """Nothing says whether a server's tables have changed: they are asked again by the minute."""
        return int(time.monotonic() / _KNOWN_S)

    def assumes(self, version: object) -> bool:
        return version == self.version()

    def columns(self, table: str) -> Columns:
        schema, name = tables.parts_of(table)
        write = literals("UTC")
        text = tables.COLUMNS.format(schema=write(schema) if schema else "DATABASE()", table=write(name))
        self._start(text, {}, None)
        return tuple((name, tables.said(type_, collation)) for name, type_, collation in self._all())

    def has_schema(self, name: str) -> bool:
        self._start(tables.SCHEMA.format(schema=literals("UTC")(name)), {}, None)
        return bool(self._all())

    def execute(self, sql: str, params: Mapping[str, Any], wanted: Columns | None = None) -> Columns:
        columns = self._start(sql, params, wanted)
        self._begun = (sql, params, wanted)
        return columns

    def shown(self) -> tuple[str, ...]:
        """The types of the columns of what was executed last, with what their texts are shown by."""
        return tuple(shown_type(field) for field in self._fields)

    def fetchmany(self, count: int) -> Rows:
        self._begun = None
        rows = self._fetched(count)
        if self._decoder is None:
            return rows
        try:
            return self._decoder.python(rows)
        except MisfitError as misfit:
            misfit.hint = hint_of(misfit.hint)
            raise

    def arrow(
        self, sql: str, params: Mapping[str, Any], batch_rows: int, wanted: Columns | None = None
    ) -> pa.RecordBatchReader:
        begun, self._begun = self._begun, None
        is_rounded = wanted is None and bool(self._floats)  # as the driver has FLOAT, but Arrow has all of it
        if is_rounded and self._session is not None and self._session.is_dirty:
            while self._fetched(1000):  # what is in the session is needed again
                pass
        if is_rounded or begun != (sql, params, wanted):
            self._start(sql, params, wanted, AS_IT_COMES)
        session = self._session
        assert session is not None
        self._bulk = bulk = BulkResult(session.wire)
        self._result = None
        return bulk.reader(
            batch_rows, wanted, time_zone=self._time_zone, floats=self._floats, ask=self._asked
        )

    def interrupt(self) -> None:
        """From any thread; returns at once. What has not begun yet will not."""
        with self._lock:
            if self._is_closed or self._is_cancelled:
                return
            self._is_cancelled = True
            session, opening = self._session, self._opening
        if opening is not None:
            opening.cut(Cancelled(_CANCELLED))
        elif session is not None:
            threading.Thread(
                target=self._kill, args=(session,), name="shardwise-mysql-kill", daemon=True
            ).start()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
        self._release()

    # -- inside -------------------------------------------------------------------------------

    def _start(
        self,
        sql: str,
        params: Mapping[str, Any],
        wanted: Columns | None,
        converters: Converters = DRIVERS_OWN,
    ) -> Columns:
        self._end_result()
        is_exact = wanted is not None or converters is AS_IT_COMES
        converters = TEXT if wanted is not None and converters is DRIVERS_OWN else converters
        zone = "UTC" if wanted is not None else self._time_zone
        sql, floats = _REWRITTEN.get(self._settings.session_key, sql) if is_exact else (sql, frozenset())
        fields = self._begun_with(sql, params, zone, converters)
        columns, found = _described(fields)
        if is_exact and found:
            self._end_result()
            names = [field.name for field in fields]
            rewritten = exact(sql, names, found, must=wanted is not None)
            _REWRITTEN.put(self._settings.session_key, sql, (rewritten, found))
            sql, floats = rewritten, found
            fields = self._begun_with(sql, params, zone, converters)
            columns, _ = _described(fields)
        self._decoder = decoder(wanted, len(fields), self._time_zone) if wanted is not None else None
        self._floats = floats if is_exact else found
        self._columns, self._fields = wanted or columns, fields
        return self._columns

    def _begun_with(
        self, sql: str, params: Mapping[str, Any], zone: str, converters: Converters
    ) -> tuple[Any, ...]:
        """Starts it; gives the result's columns."""
        text = inlined(sql, params, MYSQL, literals(zone))
        self._result = self._sent(text, zone, converters, leaves_nothing=_leaves_nothing(sql))
        return tuple(self._result.fields) if is_open(self._result) else ()

    def _sent(self, text: str, zone: str, converters: Converters, *, leaves_nothing: bool) -> Result:
        """Once more on a new session, if one that had waited turns out to be gone."""

        def begun(session: Session) -> Result:
            session.set_zone(zone)
            session.is_dirty = session.is_dirty or not leaves_nothing
            return session.wire.start(text, converters)

        session = self._taken()
        try:
            return self._asked(lambda: begun(session))
        except Exception as error:
            if session.is_fresh or session.is_dirty or not is_lost(error) or self._is_cancelled:
                raise
            self._release()
            again = self._taken(fresh=True)
            return self._asked(lambda: begun(again))

    def _fetched(self, count: int) -> Rows:
        result = self._result
        if result is None:
            return []

        fetched: Rows = self._asked(lambda: rows(result, count))
        return fetched

    def _all(self) -> Rows:
        found: Rows = []
        while more := self._fetched(1000):
            found += more
        return found

    def _asked(self, ask: Callable[[], Any]) -> Any:
        """Asks the server; raises what is wrong, and Cancelled if it was."""
        session = self._session
        assert session is not None
        try:
            found = session.waited_for(ask)
        except BaseException as error:
            self._result = self._bulk = None
            lost = is_lost(error) or not isinstance(error, Exception)
            if self._is_cancelled:
                self._release()
                raise Cancelled(_CANCELLED) from error
            if lost:
                because = session.cut_because
                self._release()
                if because is not None:
                    raise because from error
            raise
        if self._is_cancelled:  # a statement that was killed may end as if nothing were
            self._release()
            raise Cancelled(_CANCELLED)
        return found

    def _taken(self, *, fresh: bool = False) -> Session:
        if self._session is None:
            if self._is_spoilt:
                raise InterfaceError("the session was lost, and with it what statements had left in it")
            try:
                session = self._server.take(self._settings, self._opens, fresh=fresh)
            except BaseException:
                self._opening = None
                self._release()
                raise
            with self._lock:
                self._session, self._opening = session, None
        if self._is_cancelled:
            self._release()
            raise Cancelled(_CANCELLED)
        return self._session

    def _opens(self, session: Session) -> None:
        """A session is being opened for it."""
        with self._lock:
            self._opening = session
            is_cancelled = self._is_cancelled
        if is_cancelled:
            raise Cancelled(_CANCELLED)

    def _end_result(self) -> None:
        """Makes the session free for another statement."""
        self._begun = None
        session = self._session
        if session is not None and not self._rest_passed(session):
            self._release(is_over=False)

    def _release(self, *, is_over: bool | None = None) -> None:
        """Gives the session back, or ends it if something still runs on it; `is_over`, if that is known."""
        with self._lock:
            session, self._session = self._session, None
            is_cancelled, self._is_cancelled = self._is_cancelled, False
        if session is None:
            return
        self._is_spoilt = self._is_spoilt or session.is_dirty
        is_well = session.wire.open and not is_cancelled
        if is_over is None:
            is_over = not is_well or self._rest_passed(session)
        if not is_over:
            threading.Thread(
                target=self._server.kill,
                args=(self._settings, session.id),
                name="shardwise-mysql-kill",
                daemon=True,
            ).start()
        self._result = self._bulk = None
        self._server.give_back(session, is_well=is_well and is_over)

    def _rest_passed(self, session: Session) -> bool:
        """Passes over the little that may still be there of the last result; tells whether that was all."""
        result, self._result = self._result, None
        bulk, self._bulk = self._bulk, None
        if bulk is not None and not bulk.finish():
            return False
        return result is None or not is_open(result) or _drained(session, result)

    def _kill(self, session: Session) -> None:
        """Ends the session at the server; cuts it here if that does not help."""
        self._server.kill(self._settings, session.id)
        end = time.monotonic() + _KILLED_WITHIN_S
        while time.monotonic() < end:
            if self._session is not session:
                return
            time.sleep(0.02)
        session.cut(Cancelled(_CANCELLED))


@lru_cache(maxsize=64)
def _described(fields: tuple[Any, ...]) -> tuple[Columns, frozenset[int]]:
    """The columns of a result's fields, and which are FLOAT. Those of answers alike are the same objects."""
    columns = tuple((field.name, type_text(field)) for field in fields)
    return columns, frozenset(i for i, field in enumerate(fields) if is_float(field))


@lru_cache(maxsize=1024)
def _leaves_nothing(sql: str) -> bool:
    """Whether a statement leaves the session as it was, whatever its parameters are: they are literals."""
    return _LEAVES_NOTHING.match(sql) is not None


def _drained(session: Session, result: Result) -> bool:
    if not session.wire.open:
        return False
    session.wire.patience(_FEW_S)
    try:
        for _ in range(_FEW_ROWS):
            if row(result) is None:
                session.wire.patience(None)
                return True
    except Exception:  # noqa: BLE001  whatever it is, the session is dropped
        return False
    return False
