"""One connection to the server: its session as pinned, its protocol, and never a wait without an end.

libpq's protocol is spoken through psycopg's generators, which say what they wait for; the waiting is ours.
While nothing arrives for a while, the server is asked on a connection of its own whether it still answers:
a statement may take long, but a server that was stopped must not hang us. What was cancelled and does not
end soon has its socket shut.
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import psycopg
from psycopg import capabilities, generators, waiting
from psycopg.conninfo import make_conninfo
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from shardwise.errors import Cancelled, NotSupportedError, OperationalError
from shardwise.executor.backends.postgres.errors import Silence, redacted
from shardwise.executor.backends.postgres.settings import Settings

_T = TypeVar("_T")
_SERVERS_OWN = ("", "SYSTEM")
"""What stands for the session's zone as the server has it."""
_OLDEST = 130_000
_GRACE_S = 3.0
"""How long a statement that was cancelled may take to end."""
_AGAIN_S = 0.3
_LATELY_S = 20.0
_PREPARED_MAX = 64
_KEPT_MAX = 65_536
"""How long a statement may be to be kept: one with rows in it comes once."""
CHUNK_ROWS = 1024
HAS_CHUNKS = capabilities.has_stream_chunked()
_HAS_PIPELINES = capabilities.has_pipeline()
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_ROLLBACK = "ROLLBACK"
_VERSION = "SELECT pg_current_snapshot()::text"


class Field(NamedTuple):
    """A column of a result, as the protocol tells of it."""

    name: str
    oid: int
    modifier: int


class Prepared:
    """A statement that the server has parsed; for one thread at a time, as the session.

    `is_quick`: it was answered at once when it was asked last, with few rows. `memo` is for what others make
    of its fields.
    """

    __slots__ = ("fields", "is_quick", "memo", "name")

    def __init__(self, name: bytes, fields: tuple[Field, ...]) -> None:
        self.name = name
        self.fields = fields
        self.is_quick = False
        self.memo: dict[str, Any] = {}


class Session:
    """For one thread at a time; anyone may `cancel`."""

    def __init__(self, settings: Settings) -> None:
        self.con = _connected(settings)
        self.pgconn = self.con.pgconn
        self.idle_since_s = 0.0
        self.settings = settings
        self._selector = _Selector()
        self._selector.register(self.pgconn.socket, selectors.EVENT_READ)
        self._events = selectors.EVENT_READ
        self._piped = 0
        """How many results follow those of the statement that runs in a pipeline."""
        self.is_still = True
        """Whether nothing was written on the server, when it was asked last, since it was before."""
        self._lock = threading.Lock()
        self._quiet = threading.Event()
        self._quiet.set()
        self._cancelling: threading.Thread | None = None
        self._is_cancelled = False
        self._is_cancel_sent = True
        self._is_copying = self._is_ending = False
        self._prepared: OrderedDict[object, Prepared] = OrderedDict()
        self._made = 0
        try:
            self._verify()
        except BaseException:
            self.close()
            raise

    # -- transactions -------------------------------------------------------------------------

    def begin(self, time_zone: str) -> str:
        """Begins a read-only transaction of one snapshot; gives what is another once anything was written."""
        self.finish_ending()
        results = self.simple("; ".join(self._opening(time_zone)), timeout_s=self.settings.connect_timeout_s)
        return (results[-1].get_value(0, 0) or b"").decode()

    def begin_with(
        self, time_zone: str, prepared: Prepared, values: Sequence[bytes | None], *, ends: bool
    ) -> str:
        """`begin` and `start` in one: the server is sent all of it before it has answered any of it.

        What it says of the transaction may come as late as the statement's first rows. With `ends` the
        transaction ends after them.
        """
        opening = [self.prepare(sql, ()) for sql in self._opening(time_zone)]
        ending = [self.prepare(_ROLLBACK, ())] if ends else []
        self._ask()
        send = self.pgconn.send_query_prepared
        self.pgconn.enter_pipeline_mode()
        self._piped = 1 + 2 * len(ending)
        for each in opening:
            send(each.name, ())
        send(prepared.name, values)
        for each in ending:
            send(each.name, ())
        self.pgconn.pipeline_sync()
        if self.pgconn.flush():
            self._wait(generators.send(self.pgconn))
        version = b""
        for _ in opening:
            while (result := self._next_result()) is not None:
                self._checked(result)
                version = result.get_value(0, 0) or b"" if result.ntuples else version
        self._in_chunks()
        return version.decode()

    def zone_of(self, time_zone: str) -> str:
        """The zone that a transaction is to be in; of "" and "SYSTEM" the session's own, outside of one."""
        return self.time_zone if time_zone in _SERVERS_OWN else time_zone

    def _opening(self, time_zone: str) -> list[str]:
        """The statements that a transaction begins with; the last gives its version."""
        is_set = self.zone_of(time_zone) == self.time_zone
        zone = [] if is_set else [f"SET LOCAL TimeZone = '{_plain(time_zone)}'"]
        return [_BEGIN, *zone, _VERSION]

    def rollback(self) -> None:
        """Ends the transaction, and with it every setting that it changed."""
        if self.pgconn.transaction_status != TransactionStatus.IDLE:
            self._quiet.clear()
            self._simple("ROLLBACK", _GRACE_S)

    def end(self) -> None:
        """The same, but the server's answer is waited for when the next request begins."""
        if self.pgconn.transaction_status != TransactionStatus.IDLE:
            self.pgconn.send_query(b"ROLLBACK")
            self._wait(generators.send(self.pgconn))
            self._is_ending = True

    def finish_ending(self) -> None:
        """Waits for what `end` has sent: the time zone, too, is the session's own only then."""
        if self._is_ending:
            self._is_ending = False
            end = time.monotonic() + self.settings.connect_timeout_s
            while (result := self._next_result(end)) is not None:
                self._checked(result)

    @property
    def is_ready(self) -> bool:
        """Whether a statement may be sent in the transaction."""
        return bool(self.pgconn.transaction_status == TransactionStatus.INTRANS)

    @property
    def time_zone(self) -> str:
        return (self.pgconn.parameter_status(b"TimeZone") or b"").decode()

    # -- statements ---------------------------------------------------------------------------

    def simple(self, sql: str, *, timeout_s: float | None = None) -> list[PGresult]:
        """Runs statements without parameters, of few rows, as text."""
        self._ask()
        return self._simple(sql, timeout_s)

    def _simple(self, sql: str, timeout_s: float | None = None) -> list[PGresult]:
        try:
            self.pgconn.send_query(sql.encode())
            results: list[PGresult] = self._wait(generators.execute(self.pgconn), timeout_s)
        finally:
            self._quiet.set()
        for result in results:
            self._checked(result)
        return results

    def query(self, sql: str, values: Sequence[str | None]) -> list[tuple[str | None, ...]]:
        """Rows as text of a statement of ours, parsed once."""
        prepared = self.prepare(sql, (0,) * len(values))
        self.start(prepared, [None if value is None else value.encode() for value in values])
        rows: list[tuple[str | None, ...]] = []
        while (result := self.next_rows()) is not None:
            for row in range(result.ntuples):
                cells = [result.get_value(row, column) for column in range(result.nfields)]
                rows.append(tuple(None if cell is None else cell.decode() for cell in cells))
        return rows

    def prepare(self, sql: str, oids: tuple[int, ...]) -> Prepared:
        """Has the server parse a statement, unless it has; raises what it says of it."""
        found = self.known(sql, oids)
        if found is not None:
            return found
        name = self._next_name() if len(sql) <= _KEPT_MAX else b""
        self._ask()
        try:
            self.pgconn.send_prepare(name, sql.encode(), oids)
            (result,) = self._wait(generators.execute(self.pgconn))
            self._checked(result)
            self.pgconn.send_describe_prepared(name)
            (result,) = self._wait(generators.execute(self.pgconn))
            self._checked(result)
        finally:
            self._quiet.set()
        fields = [
            Field((result.fname(i) or b"").decode(), result.ftype(i), result.fmod(i))
            for i in range(result.nfields)
        ]
        made = Prepared(name, tuple(fields))
        if name:
            self._prepared[sql, oids] = made
        return made

    def known(self, sql: str, oids: tuple[int, ...]) -> Prepared | None:
        """A statement that the server has parsed already."""
        found = self._prepared.get((sql, oids))
        if found is not None:
            self._prepared.move_to_end((sql, oids))
        return found

    def _next_name(self) -> bytes:
        while len(self._prepared) >= _PREPARED_MAX:
            _, old = self._prepared.popitem(last=False)
            self.simple(f"DEALLOCATE {old.name.decode()}")
        self._made += 1
        return f"shardwise_{self._made}".encode()

    def forget(self) -> None:
        """Has statements parsed anew: tables are others now."""
        self._prepared.clear()
        self.simple("DEALLOCATE ALL")

    def start(self, prepared: Prepared, values: Sequence[bytes | None]) -> None:
        """Sends a statement, whose rows `next_rows` gives as they come."""
        self._ask()
        self.pgconn.send_query_prepared(prepared.name, values)
        self._in_chunks()
        self._wait(generators.send(self.pgconn))

    def _in_chunks(self) -> None:
        if HAS_CHUNKS:
            self.pgconn.set_chunked_rows_mode(CHUNK_ROWS)
        else:
            self.pgconn.set_single_row_mode()

    def next_rows(self) -> PGresult | None:
        """Some more rows, as text; None at the end. Raises what stops the statement."""
        while True:
            result = self._next_result()
            if result is None:
                self._ended()
                return None
            if result.status == ExecStatus.FATAL_ERROR:
                try:
                    self._drain()
                finally:  # the connection may be lost by it
                    self._checked(result)
            if result.ntuples:
                return result

    def start_copy(self, sql: str) -> None:
        """Sends `COPY … TO STDOUT`, whose rows `next_copied` gives as they come."""
        self._ask()
        self.pgconn.send_query(sql.encode())
        results = self._wait(generators.execute(self.pgconn))
        if results[0].status != ExecStatus.COPY_OUT:
            self._quiet.set()
            self._checked(results[0])
        self._is_copying = True

    def next_copied(self, rows: int, size: int) -> bytearray:
        """Lines until there are so many, or bytes; none at the end. Raises what stops the statement.

        Each is copied at once: kept one by one, the garbage collector would look at them again and again.
        """
        found = bytearray()
        if not self._is_copying:
            return found
        get = self.pgconn.get_copy_data
        while rows and len(found) < size:
            length, line = get(1)
            if length > 0:
                found += line
                rows -= 1
            elif length == 0:
                self._ready(waiting.Wait.R, None)
                self.pgconn.consume_input()
            else:
                self._is_copying = False
                self._drain()
                break
        return found

    # -- stopping -----------------------------------------------------------------------------

    def cancel(self) -> None:
        """Has the server stop what runs, or else what would run next; returns at once. From any thread."""
        with self._lock:
            self._is_cancelled = True
            if self._quiet.is_set() or self._cancelling is not None or self.is_closed:
                return
            self._cancelling = threading.Thread(target=self._cancel, name="shardwise-cancel", daemon=True)
            self._cancelling.start()

    def renew(self) -> None:
        """For the next request: what was to be stopped is over."""
        self._is_cancelled = False

    def settle(self) -> None:
        """Ends what still runs, without reading its rows, and waits until it has been cancelled."""
        if not self._quiet.is_set():
            was_cancelled = self._is_cancelled
            self.cancel()
            self._is_cancelled = was_cancelled
            with suppress(psycopg.Error, OperationalError):
                if self._is_copying:
                    while self.next_copied(1024, 1 << 20):
                        pass
                while self.next_rows() is not None:
                    pass
        cancelling, self._cancelling = self._cancelling, None
        if cancelling is not None:
            cancelling.join()

    def close(self) -> None:
        """Cuts the connection; what ran ends on the server when it notices."""
        with self._lock:
            self._quiet.set()
            if not self.is_closed:
                self._selector.close()
                self.pgconn.finish()

    @property
    def may_be_sent_ahead(self) -> bool:
        """Whether what follows may be sent before an answer has shown that the server is there: the way to it
        was open a moment ago, and nothing on it forgets a connection so soon."""
        return _HAS_PIPELINES and time.monotonic() - self.idle_since_s < _LATELY_S

    @property
    def is_closed(self) -> bool:
        return bool(self.pgconn.status == ConnStatus.BAD)

    @property
    def is_reusable(self) -> bool:
        """Whether no cancel may still be on its way to what runs next."""
        return self._is_cancel_sent and not self.is_closed

    def _cancel(self) -> None:
        """Asks again and again, for what was asked before the statement came is without effect."""
        end = time.monotonic() + _GRACE_S
        while not self._quiet.is_set() and time.monotonic() < end:
            if not self._ask_to_stop(end - time.monotonic()):
                break
            self._quiet.wait(_AGAIN_S)
        if not self._quiet.is_set():
            self._shut()

    def _ask_to_stop(self, timeout_s: float) -> bool:
        """Whether the server has taken it: its process has been told by the time it closes the connection."""
        with self._lock:
            if self.is_closed:
                return False
            self._is_cancel_sent = False
            asked = self.pgconn.cancel_conn() if capabilities.has_cancel_safe() else None
            plain = self.pgconn.get_cancel() if asked is None else None
        try:
            if plain is not None:
                plain.cancel()
            elif asked is not None:
                asked.start()
                _wait_for(generators.cancel(asked), timeout_s)
        except (psycopg.Error, OSError):
            return False
        self._is_cancel_sent = True
        return True

    def _shut(self) -> None:
        """Wakes up whoever waits for the socket."""
        with self._lock:
            if not self.is_closed:
                with suppress(OSError), socket.socket(fileno=os.dup(self.pgconn.socket)) as shared:
                    shared.shutdown(socket.SHUT_RDWR)

    # -- inside -------------------------------------------------------------------------------

    def _verify(self) -> None:
        """That the session is as pinned: a proxy between may leave out what it does not know."""
        version = self.pgconn.server_version
        if version < _OLDEST:
            raise NotSupportedError(
                f"the server is PostgreSQL {version // 10_000}: {_OLDEST // 10_000} is the oldest to be read"
            )
        names = list(self.settings.pinned)
        (result,) = self.simple("SELECT " + ", ".join(f"current_setting('{name}')" for name in names))
        for i, name in enumerate(names):
            value = (result.get_value(0, i) or b"").decode()
            wanted = self.settings.pinned[name]
            if not _is_same(name, value, wanted):
                raise OperationalError(
                    f"the session's {name} is {value!r}, not {wanted!r} as was asked for",
                    hint="Connect to the server itself, or have the proxy in between pass on `options`",
                )
        if version >= 140_000:
            with suppress(psycopg.errors.InvalidParameterValue):  # not all platforms can
                self.simple("SET client_connection_check_interval = '2s'")

    def _ask(self) -> None:
        """From here on `cancel` has something to stop; raises Cancelled if it came before."""
        with self._lock:
            if self._is_cancelled:
                self._is_cancelled = False
                raise Cancelled("the statement was cancelled")
            self._quiet.clear()

    def _checked(self, result: PGresult) -> None:
        if result.status in (ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE):
            self._is_cancelled = False
            raise error_from_result(result, encoding="utf-8")

    def _drain(self) -> None:
        """Reads up to the end of the statement, and raises what the server says of it."""
        failed = None
        while (result := self._next_result()) is not None:
            if result.status == ExecStatus.FATAL_ERROR:
                failed = failed or result
        self._ended()
        if failed is not None:
            self._checked(failed)

    def _next_result(self, end: float | None = None) -> PGresult | None:
        """What the server says next; None at a statement's end."""
        pgconn = self.pgconn
        while pgconn.is_busy():
            self._ready(waiting.Wait.R, end)
            pgconn.consume_input()
        found: PGresult | None = pgconn.get_result()
        return found

    def _ended(self) -> None:
        """No statement runs any more."""
        if self._piped:
            for _ in range(self._piped):
                self._next_result()
            self.pgconn.exit_pipeline_mode()
            self._piped = 0
        self._quiet.set()

    def _wait(self, gen: Generator[Any, Any, _T], timeout_s: float | None = None) -> _T:
        end = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            wanted = next(gen)
            while True:
                wanted = gen.send(self._ready(wanted, end))
        except StopIteration as done:
            value: _T = done.value
            return value

    def _ready(self, wanted: int, end: float | None) -> int:
        """Waits for the socket; raises Silence if the server does not answer any more."""
        if wanted != self._events:  # psycopg's bits are those of `selectors`
            self._selector.modify(self.pgconn.socket, wanted)
            self._events = wanted
        limit = self.settings.read_timeout_s
        while True:
            wait = limit if end is None else max(0.0, min(limit, end - time.monotonic()))
            found = self._selector.select(wait)
            if found:
                return found[0][1]
            if end is not None and time.monotonic() >= end:
                self._give_up("did not answer in time", is_servers=False)
            if not _answers(self.settings):
                self._give_up("does not answer any more", is_servers=True)

    def _give_up(self, why: str, *, is_servers: bool) -> None:
        self.close()
        raise Silence(why, is_servers=is_servers)


def _connected(settings: Settings) -> psycopg.Connection[Any]:
    """A connection; the error of one that failed is made anew, for psycopg's own carries the password."""
    secret = {} if settings.password is None else {"password": settings.password}
    try:
        return psycopg.Connection[Any].connect(
            make_conninfo("", **settings.driver, **secret), autocommit=True, prepare_threshold=None
        )
    except psycopg.OperationalError as error:
        said = redacted(str(error), settings.password)
    raise psycopg.OperationalError(said)


def _plain(name: str) -> str:
    return name.replace("'", "''")


def _is_same(name: str, found: str, wanted: str) -> bool:
    if name == "statement_timeout":
        return found not in ("0", "")
    return found.replace(" ", "") == wanted.replace(" ", "")


def _wait_for(gen: Generator[Any, Any, None], timeout_s: float) -> None:
    """As `psycopg.waiting.wait_conn`, which got its limit late."""
    end = time.monotonic() + timeout_s
    try:
        fileno, wanted = next(gen)
        while True:
            with _Selector() as selector:
                selector.register(fileno, wanted)
                found = selector.select(max(0.0, end - time.monotonic()))
            if not found:
                raise psycopg.OperationalError("the request to cancel was not answered")
            fileno, wanted = gen.send(found[0][1])
    except StopIteration:
        return


_SSL_REQUEST = b"\0\0\0\x08\x04\xd2\x16\x2f"


def _answers(settings: Settings) -> bool:
    """Whether the server says a word to a new connection: anyone may ask it whether it speaks TLS."""
    address = settings.address
    try:
        if address.socket is not None:
            found = socket.socket(socket.AF_UNIX)
            found.settimeout(settings.connect_timeout_s)
            found.connect(f"{address.socket}/.s.PGSQL.{address.port}")
        else:
            found = socket.create_connection((address.host, address.port), settings.connect_timeout_s)
        with found:
            found.settimeout(settings.connect_timeout_s)
            found.sendall(_SSL_REQUEST)
            return found.recv(1) in (b"S", b"N")
    except OSError:
        return False
