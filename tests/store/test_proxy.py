"""The proxy that tests and ``chaos`` put before a server does to connections what it says."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread

import pytest

from tests.store.proxy import Proxy

#: Seconds after which what did not come never will, and in which nothing comes.
PATIENCE, MOMENT = 20, 0.2


class Echo(BaseRequestHandler):
    def handle(self) -> None:
        with suppress(OSError):
            while data := self.request.recv(65_536):
                self.request.sendall(data)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        with Proxy(server.server_address[1]) as proxy:
            yield proxy
        server.shutdown()
        thread.join()


def connected(proxy: Proxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE)


def received(connection: socket.socket, length: int) -> bytes:
    """Return so many bytes, or those that come before the connection ends."""
    data = b""
    with suppress(ConnectionError):
        while len(data) < length and (more := connection.recv(length - len(data))):
            data += more
    return data


def is_cut(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_everything_is_passed_on_both_ways(proxy: Proxy) -> None:
    said = bytes(range(256)) * 1_000
    with connected(proxy) as one, connected(proxy) as other:
        other.sendall(b"hello")
        one.sendall(said)
        assert received(one, len(said)) == said
        assert received(other, 5) == b"hello"


def test_connections_are_cut_and_those_that_are_made_instead(proxy: Proxy) -> None:
    with connected(proxy) as before, connected(proxy) as idle:
        before.sendall(b"hello")
        assert received(before, 5) == b"hello"
        with proxy.cutting():
            assert is_cut(before)
            assert is_cut(idle)
            with connected(proxy) as instead:
                assert is_cut(instead)
    with connected(proxy) as after:
        after.sendall(b"hello")
        assert received(after, 5) == b"hello"


def test_a_reply_ends_in_the_middle(proxy: Proxy) -> None:
    with connected(proxy) as connection, proxy.halving():
        connection.sendall(b"0123456789")
        assert received(connection, 10) in (b"01234", b""), "what was not read yet may go with a connection"
        assert is_cut(connection)
    with connected(proxy) as connection:
        connection.sendall(b"0123456789")
        assert received(connection, 10) == b"0123456789"


def test_what_is_held_up_comes_late(proxy: Proxy) -> None:
    with connected(proxy) as connection:
        with proxy.stalling():
            connection.sendall(b"hello")
            connection.settimeout(MOMENT)
            with pytest.raises(TimeoutError):
                connection.recv(1)
            connection.settimeout(PATIENCE)
        assert received(connection, 5) == b"hello"


def test_crumbs_are_all_that_was_said(proxy: Proxy) -> None:
    with connected(proxy) as connection, proxy.crumbling():
        said = bytes(range(200))
        connection.sendall(said)
        assert received(connection, 200) == said
