"""A TCP proxy that misbehaves on demand: between shardwise and a server, on loopback.

with Proxy(server.host, server.port) as proxy:
    …connect to 127.0.0.1:proxy.port…
    proxy.cut_after(10_000)     drop the connection once the server has sent so many bytes more
    proxy.stall()               let nothing through, in either direction, until `flow()`
    proxy.refuse()              close new connections at once, until `accept()`
    proxy.drop()                close all that are open now
"""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self


class Proxy:
    """Forwards each connection to `host:port`. Threads may share it."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._lock = threading.Lock()
        self._flows = threading.Event()
        self._flows.set()
        self._left: int | None = None
        self._refuses = self._is_closed = False
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._threads: list[threading.Thread] = []
        self.received = 0
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    # -- what it does wrong -------------------------------------------------------------------

    def cut_after(self, count: int) -> None:
        """Drops all connections once the server has sent `count` bytes more."""
        with self._lock:
            self._left = count

    def stall(self) -> None:
        self._flows.clear()

    def flow(self) -> None:
        self._flows.set()

    def refuse(self) -> None:
        self._refuses = True

    def accept(self) -> None:
        self._refuses = False

    def drop(self) -> None:
        """Closes what is open now, without a word of either protocol."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()

    # -- its life -----------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_closed = True
        self._flows.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.drop()
        for thread in self._threads:
            thread.join(5)

    def _start(self, target: object, *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                here, _ = self._listener.accept()
            except OSError:
                return
            if self._refuses:
                here.close()
                continue
            try:
                there = socket.create_connection(self._target, 5)
            except OSError:
                here.close()
                continue
            there.settimeout(None)
            self.connections += 1
            with self._lock:
                if not self._is_closed:
                    self._pairs.append((here, there))
            if self._is_closed:  # meanwhile: nobody else will close them, or they are closed twice
                here.close()
                there.close()
                return
            self._start(self._pump, here, there, False)
            self._start(self._pump, there, here, True)

    def _pump(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                self._flows.wait()
                if is_answer:
                    data = self._allowed(data)
                target.sendall(data)
                if is_answer and self._left == 0:
                    break
        if is_answer and self._left == 0:
            self._left = None
            self.drop()
            return
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def _allowed(self, data: bytes) -> bytes:
        with self._lock:
            self.received += len(data)
            if self._left is None:
                return data
            data = data[: self._left]
            self._left -= len(data)
            return data
