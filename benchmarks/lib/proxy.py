"""A TCP proxy on the loopback interface, before a server: it cuts, halves, holds up and crumbles what it passes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from types import TracebackType

_READ = 65_536
#: Seconds between two cuts of a flood of them.
_BETWEEN_CUTS = 0.02
#: Bytes of a crumb; a reply has more crumbs than one.
_CRUMB = 7


class Proxy:
    """Passes everything on to *port* while its ``with`` block lasts; clients ask at ``self.port``.

    It works in a thread, so that it goes on while its maker waits for something.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._connections: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._is_halving = self._is_crumbling = False
        self._passage = asyncio.Event()
        #: Connections that were ended from here.
        self.cuts = 0

    def __enter__(self) -> Proxy:
        self._thread.start()
        self._wait(self._begin())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._wait(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @contextmanager
    def cutting(self) -> Iterator[None]:
        """Cut all connections, and those that are made instead, again and again."""
        flood = asyncio.run_coroutine_threadsafe(self._flood(), self._loop)
        try:
            yield
        finally:
            flood.cancel()

    @contextmanager
    def halving(self) -> Iterator[None]:
        """Pass on one half of the next reply on each connection, and cut it there."""
        self._is_halving = True
        try:
            yield
        finally:
            self._is_halving = False

    @contextmanager
    def stalling(self) -> Iterator[None]:
        """Take everything and pass nothing on; at the end all of it goes its way, late, unless its sender went."""
        self._loop.call_soon_threadsafe(self._passage.clear)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._passage.set)

    @contextmanager
    def crumbling(self) -> Iterator[None]:
        """Pass replies on in crumbs of a few bytes."""
        self._is_crumbling = True
        try:
            yield
        finally:
            self._is_crumbling = False

    def _wait(self, what: object) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result()  # type: ignore[arg-type]

    async def _begin(self) -> None:
        self._passage.set()
        self._server = await asyncio.start_server(self._serve, sock=self._listener)

    async def _end(self) -> None:
        self._server.close()
        self._passage.set()
        self._cut()
        if self._connections:
            await asyncio.wait(self._connections)

    async def _flood(self) -> None:
        while True:
            self._cut()
            await asyncio.sleep(_BETWEEN_CUTS)

    def _cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
            self.cuts += 1

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        self._writers.add(writer)
        try:
            await self._connect(reader, writer)
        finally:
            writer.transport.abort()
            self._writers.discard(writer)
            self._connections.discard(task)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            replies, commands = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            return
        passing = [
            asyncio.ensure_future(self._pass(reader, commands, is_reply=False)),
            asyncio.ensure_future(self._pass(replies, writer, is_reply=True)),
        ]
        await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
        for way in passing:
            way.cancel()
        await asyncio.wait(passing)
        commands.transport.abort()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_reply: bool
    ) -> None:
        # Whoever ends a connection, the other side hears of it when both ways are cancelled.
        with suppress(OSError):
            while data := await reader.read(_READ):
                await self._passage.wait()
                if is_reply and self._is_halving:
                    writer.write(data[: len(data) // 2])
                    await writer.drain()
                    self.cuts += 1
                    return
                step = _CRUMB if is_reply and self._is_crumbling else _READ
                for start in range(0, len(data), step):
                    writer.write(data[start : start + step])
                    await writer.drain()
                    if step == _CRUMB:
                        await asyncio.sleep(0)
