"""The proxy itself: what it lets through, and what it does not."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.faults.proxy import Proxy


@contextmanager
def echo() -> Iterator[int]:
    """A server that sends back what it gets; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                con, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(con,), daemon=True).start()

    def answer(con: socket.socket) -> None:
        with con:
            while data := con.recv(65_536):
                con.sendall(data)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(5)


def received(con: socket.socket) -> bytes:
    data = b""
    while more := con.recv(65_536):
        data += more
    return data


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with echo() as port, Proxy("127.0.0.1", port) as made:
        yield made


def connected(proxy: Proxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", proxy.port), 5)


def test_it_forwards(proxy: Proxy) -> None:
    with connected(proxy) as con:
        con.sendall(b"x" * 100_000)
        con.shutdown(socket.SHUT_WR)
        assert received(con) == b"x" * 100_000


def test_it_cuts_after_so_many_bytes(proxy: Proxy) -> None:
    proxy.cut_after(10)
    with connected(proxy) as con:
        con.sendall(b"x" * 100)
        assert received(con) == b"x" * 10
    with connected(proxy) as con:  # once
        con.sendall(b"y")
        con.shutdown(socket.SHUT_WR)
        assert received(con) == b"y"


def test_it_stalls_and_flows(proxy: Proxy) -> None:
    proxy.stall()
    with connected(proxy) as con:
        con.sendall(b"abc")
        con.settimeout(0.1)
        with pytest.raises(TimeoutError):
            con.recv(3)
        proxy.flow()
        con.settimeout(5)
        assert con.recv(3) == b"abc"


def test_it_refuses_and_drops(proxy: Proxy) -> None:
    with connected(proxy) as con:
        con.sendall(b"a")
        assert con.recv(1) == b"a"
        proxy.drop()
        assert received(con) == b""
    proxy.refuse()
    with connected(proxy) as con:
        assert received(con) == b""
    proxy.accept()
    with connected(proxy) as con:
        con.sendall(b"a")
        assert con.recv(1) == b"a"
