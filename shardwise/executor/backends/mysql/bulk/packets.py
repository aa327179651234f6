"""Row packets off a connection's socket, a chunk of many rows at a time.

A packet is a length of three bytes, a sequence number, and the payload; one of 2²⁴ - 1 bytes is gone on with
in the next. https://mariadb.com/kb/en/0-packet/
"""

from __future__ import annotations

import struct
import time
from typing import Any, NamedTuple

import numpy as np

from shardwise.executor.backends.mysql.driver import CR, pymysql

CHUNK_BYTES = 1 << 20
_WAIT_S = 0.05
"""A server that is slow to answer is not waited for longer than this once there are rows."""

_SPLIT = 0xFFFFFF
_MORE_RESULTS = 8  # in a server's status
_HEAD = struct.Struct("<IB")  # a packet's header, and the first byte of its payload


class Chunk(NamedTuple):
    """Whole rows: the payload of row i is `bytes[begins[i]:ends[i]]`, until the next chunk is asked for."""

    bytes: np.ndarray[Any, Any]
    begins: np.ndarray[Any, Any]
    ends: np.ndarray[Any, Any]


class Incoming:
    """What arrives on a connection: first what PyMySQL has read ahead (`is_ahead`), then the socket's own."""

    def __init__(self, connection: pymysql.Connection) -> None:
        self._file = connection._rfile
        self.is_ahead = True

    def readinto(self, room: memoryview) -> int:
        """As much as is there and fits, waiting for a byte; 0 at the end."""
        if not self.is_ahead:
            return int(self._file.raw.readinto(room))
        ahead = self._file.peek()  # readinto1 would wait for more
        count = min(len(ahead), len(room))
        room[:count] = self._file.read(count)
        self.is_ahead = count < len(ahead)
        return count


class RowPackets:
    """What follows a result's column definitions, up to its end. One thread at a time.

    Raises PyMySQL's errors, as PyMySQL does: OperationalError (2013) for a connection that is lost.
    """

    def __init__(self, connection: pymysql.Connection, chunk_bytes: int = CHUNK_BYTES) -> None:
        self._connection = connection
        self._chunk_bytes = chunk_bytes
        self._room_bytes = max(64, chunk_bytes + chunk_bytes // 4)
        self._incoming = Incoming(connection)
        self._sequence = connection._next_seq_id
        self._room(self._room_bytes)
        self._filled = 0  # bytes of the room
        self._scanned = 0  # of them, those in whole packets that were looked at
        self._begins: list[int] = []
        self._ends: list[int] = []
        self.is_over = False

    def next(self) -> Chunk | None:
        """The next rows, at least one; None at the end."""
        self._move_up()
        waited_since = time.monotonic()
        while True:
            is_split = self._scan()
            if self._begins and (
                is_split
                or self.is_over
                or self._filled >= self._chunk_bytes
                or time.monotonic() - waited_since > _WAIT_S
            ):
                return self._chunk()
            if self.is_over:
                return None
            if is_split:
                return self._split_row()
            self._fill()

    def finish(self, bytes_max: int, wait_s: float) -> bool:
        """Passes over the rest if it comes within so many bytes, waiting for none longer than so; tells
        whether that was all."""
        if self._is_free():
            return True
        try:
            self._connection._sock.settimeout(wait_s)
            self._connection._current_timeout = wait_s  # PyMySQL sets it back
            return self._pass_over(bytes_max)
        except (OSError, AttributeError):  # another thread closed it
            return False
        except pymysql.MySQLError:  # of a statement whose rows nobody wants
            return self._is_free()

    # -- inside -------------------------------------------------------------------------------

    def _is_free(self) -> bool:
        """Whether the connection can be asked something else."""
        return self.is_over and bool(self._connection.open)

    def _pass_over(self, bytes_max: int) -> bool:
        self._move_up()
        while not self._scan() and not self.is_over:
            self._sequence = (self._sequence + len(self._begins)) % 256
            self._move_up()
            if bytes_max <= 0 and not self._incoming.is_ahead:
                return False
            bytes_max -= self._fill()
        return self.is_over

    def _room(self, size: int) -> None:
        self._bytes = np.empty(size, np.uint8)
        self._view = memoryview(self._bytes.data)

    def _move_up(self) -> None:
        """The bytes of a row that is not all there go to the front; the room is of the usual size again."""
        rest = self._bytes[self._scanned : self._filled]
        if len(self._bytes) > self._room_bytes >= len(rest):
            self._room(self._room_bytes)
        self._bytes[: len(rest)] = rest.copy()
        self._filled, self._scanned = len(rest), 0
        self._begins, self._ends = [], []

    def _fill(self) -> int:
        if self._filled == len(self._bytes):
            before = self._bytes
            (length,) = struct.unpack_from("<I", self._view)
            self._room(max(2 * len(before), 4 + (length & _SPLIT)))
            self._bytes[: len(before)] = before
        count = self._read(self._view[self._filled :])
        self._filled += count
        return count

    def _read(self, room: memoryview) -> int:
        """What is there, and at least a byte."""
        try:
            count = self._incoming.readinto(room)
        except (OSError, ValueError) as error:  # ValueError: another thread closed it
            raise self._lost(f" ({error})") from error
        if not count:
            raise self._lost()
        return count

    def _lost(self, why: str = "") -> pymysql.err.OperationalError:
        self.is_over = True
        self._connection._force_close()
        return pymysql.err.OperationalError(
            CR.CR_SERVER_LOST, f"Lost connection to MySQL server during query{why}"
        )

    def broken(self, what: str) -> pymysql.err.InternalError:
        """The error for what no server should send; the connection is closed."""
        self.is_over = True
        self._connection._force_close()
        return pymysql.err.InternalError(CR.CR_MALFORMED_PACKET, what)

    def _scan(self) -> bool:
        """Notes the whole packets that are there; True if the next is one that is split."""
        at, filled, view = self._scanned, self._filled, self._view
        begins, ends, head_at = self._begins, self._ends, _HEAD.unpack_from
        is_split = False
        while at + 5 <= filled:
            head, first = head_at(view, at)
            length = head & _SPLIT
            if length == _SPLIT:
                is_split = True
                break
            end = at + 4 + length
            if end > filled:
                break
            if first >= 0xFE and (first == 0xFF or length < 9):
                self._scanned = at
                self._end(bytes(view[at + 4 : end]), head >> 24, is_last=end == filled)
                return False
            begins.append(at + 4)
            ends.append(end)
            at = end
        self._scanned = at
        return is_split

    def _end(self, payload: bytes, sequence: int, *, is_last: bool) -> None:
        """The packet after the last row."""
        self.is_over = True
        if sequence != (self._sequence + len(self._begins)) % 256:
            if sequence == 0:  # what a server says that is going down
                raise self._lost()
            raise self.broken("a packet is missing before the end of the rows")
        if payload[0] == 0xFF:
            pymysql.err.raise_mysql_exception(payload)
        if len(payload) < 5:
            raise self.broken("the packet after the last row is too short")
        (status,) = struct.unpack_from("<H", payload, 3)
        self._connection.server_status = status
        if status & _MORE_RESULTS or not is_last:
            raise self.broken("the statement has more than one result")

    def _chunk(self) -> Chunk:
        begins = np.array(self._begins, np.int64)
        count = len(begins)
        if (self._bytes[begins - 1] != (self._sequence + np.arange(count)) % 256).any():
            raise self.broken("the rows' packets are not numbered one after another")
        self._sequence = (self._sequence + count) % 256
        return Chunk(self._bytes[: self._filled], begins, np.array(self._ends, np.int64))

    def _split_row(self) -> Chunk:
        """The one row that begins where the bytes do, its packets put together."""
        row = bytearray()
        length = _SPLIT
        while length == _SPLIT:
            (head,) = struct.unpack("<I", self._exactly(4))
            length = head & _SPLIT
            if head >> 24 != self._sequence:
                raise self.broken("a row's packets are not numbered one after another")
            self._sequence = (self._sequence + 1) % 256
            row += self._exactly(length)
        return Chunk(np.frombuffer(row, np.uint8), np.zeros(1, np.int64), np.array([len(row)], np.int64))

    def _exactly(self, count: int) -> bytearray:
        """So many bytes, those that are there first."""
        found = bytearray(count)
        here = min(count, self._filled - self._scanned)
        found[:here] = self._view[self._scanned : self._scanned + here]
        self._scanned += here
        rest = memoryview(found)[here:]
        while rest:
            rest = rest[self._read(rest) :]
        return found
