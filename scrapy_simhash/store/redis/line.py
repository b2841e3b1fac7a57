"""Line: commands and scripts to a server, put together, and what its complaints mean.

What is asked in one turn of the event loop goes out in one.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import deque
from contextlib import suppress
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import Any

from scrapy_simhash.exceptions import StoreDamaged, StoreError, StoreUnavailable
from scrapy_simhash.store.redis.connection import Server, library


@cache
def script(name: str) -> tuple[str, str]:
    """Return the script in ``<name>.lua``, with what all begin with, and its hash, by which servers know it later."""
    folder = files("scrapy_simhash.store.redis")
    source = "".join((folder / f"{part}.lua").read_text("utf-8") for part in ("begin", name))
    return source, sha1(source.encode(), usedforsecurity=False).hexdigest()


#: What a reply begins with, or which of redis-py's errors stands for it: full, read-only, starting, busy with a
#: script, cut off.
_FOR_NOW = {
    *("BUSY", "LOADING", "MASTERDOWN", "MISCONF", "NOREPLICAS", "OOM", "READONLY", "TRYAGAIN", "UNKILLABLE"),
    *("MasterDownError", "OutOfMemoryError", "ReadOnlyError", "TryAgainError"),
}
_REFUSED = {
    *("NOAUTH", "NOPERM", "WRONGPASS"),
    *(
        "AuthenticationError",
        "AuthenticationWrongNumberOfArgsError",
        "AuthorizationError",
        "NoPermissionError",
    ),
}
_CLUSTER = {
    *("ASK", "CLUSTERDOWN", "CROSSSLOT", "MOVED"),
    *("AskError", "ClusterCrossSlotError", "ClusterDownError", "MovedError"),
}
#: What a server says of a script that may not call a command, and the line of the script in which it does.
_IN_SCRIPT = re.compile(r"can't run this command.*@?user_script: ?(\d+)", re.DOTALL)
#: Where in which script an error came, as servers of several versions say it: its hash tells nobody anything.
_PLACE_IN_SCRIPT = re.compile(
    r"Error running script \(call to \w+\): (?:@user_script: ?\d+: )*|\.? script: (?:\w+, )?on @user_script: ?\d+"
)
_CALLED = re.compile(r"redis\.call\('([A-Z]+)'")
#: What asyncio says, with the address once more, in place of the system's words for an error.
_CALL_FAILED = re.compile(r"(?<=Error )(\d+)(.*)Connect call failed \(.*\)")


def signs_of(error: Exception) -> set[str]:
    """Return the words of *error*, and the names of its classes: one of them says what is wrong.

    Before redis-py 6 it is the word only. In a script's error it is somewhere inside.
    """
    return {word.strip("-:'") for word in str(error).split()} | {
        kind.__name__ for kind in type(error).__mro__
    }


class ConnectionLost(StoreUnavailable):
    """The connection broke before the reply came: the command may have been executed."""


def meaning(error: Exception, place: str, name: str = "") -> StoreError:
    """Return the error of a store that *error* of redis-py, or of the system, amounts to; *place* names the store.

    *name* is that of the script or command.

    A wrong password or a missing permission is a plain StoreError: somebody must do something.
    """
    if isinstance(error, StoreError):
        return error
    said = str(error) or type(error).__name__
    said = _CALL_FAILED.sub(lambda found: f"{found[1]}{found[2]}{os.strerror(int(found[1]))}", said)
    signs = signs_of(error)
    if commands := _commands_denied(said, name):
        return StoreError(
            f"{place} denies access: the user may not run {commands}, which stores need. Allow it with ACL SETUSER;"
            " docs/how-to/redis.rst lists all commands"
        )
    said = _PLACE_IN_SCRIPT.sub("", said)
    if signs & _REFUSED:
        return StoreError(f"{place} denies access: {said}")
    if "WRONGTYPE" in signs:
        return StoreDamaged(f"{place} has a key that does not belong to a store: {said}. Nothing was changed")
    if signs & _CLUSTER:
        return StoreError(
            f"{place} is a node of a Redis Cluster, which holds a store in shards: set SIMHASH_STORE to"
            " redis+cluster:// and its host and port, or to a server that does not run in cluster mode"
            f" ({said})"
        )
    if isinstance(error, library().ResponseError) and not signs & _FOR_NOW:
        return StoreError(f"{place} answers with an error: {said}")
    # Its subclasses are refusals.
    is_lost = type(error) is library().ConnectionError or isinstance(error, ConnectionError)
    return (ConnectionLost if is_lost else StoreUnavailable)(f"{place} does not answer: {said}")


def _commands_denied(said: str, name: str) -> str:
    """Return the commands in the line of the script *name* that the user may not run; empty for another error."""
    denied = _IN_SCRIPT.search(said) if name.islower() else None
    if denied is None:
        return ""
    # The number of its line is all that the server tells.
    lines = script(name)[0].splitlines()[int(denied[1]) - 1 :][:1]
    commands = _CALLED.findall("".join(lines))
    return " or ".join(dict.fromkeys(commands)) or f"a command that the script {name}.lua calls"


#: Commands that go out together: so many that one trip for all weighs nothing.
_MOST = 128


class Line:
    """One connection, made when the first command asks for it. It sends each command once."""

    def __init__(self, server: Server, timeout: float) -> None:
        self._server = server
        self._client = server.client(timeout)
        #: How often it was connected. redis-py makes a new connection in silence for one that was closed meanwhile.
        self.connections = 0
        self._client.connection_pool.connection_kwargs["redis_connect_func"] = self._connected
        self._waiting: deque[tuple[tuple[Any, ...], asyncio.Future[Any]]] = deque()
        self._trip: asyncio.Task[None] | None = None

    def reply(self, *command: Any) -> asyncio.Future[Any]:
        """Return a future of the reply, or of an exception in place of one.

        *command* goes out with all that this turn of the loop asks.
        """
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, reply))
        if self._trip is None or self._trip.done():
            self._trip = asyncio.create_task(self._send())
        return reply

    async def hang_up(self) -> None:
        """Let go of the connection; the next command makes another. Who still waits hears StoreUnavailable."""
        trip, self._trip = self._trip, None
        if trip is not None:
            trip.cancel()
            await asyncio.wait([trip])
        self._fail(self._closed())
        await self._let_go()

    async def _send(self) -> None:
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(_MOST, len(self._waiting)))]
            pipeline = self._client.pipeline(transaction=False)
            for command, _ in batch:
                pipeline.execute_command(*command)
            try:
                replies = await pipeline.execute(raise_on_error=False)
            except BaseException as error:
                # Nobody knows what it has executed, nor where in its answers the connection stands.
                self._waiting.extendleft(reversed(batch))
                self._fail(error if isinstance(error, Exception) else self._closed())
                await self._let_go()
                if not isinstance(error, Exception):
                    raise
                # Some may have asked meanwhile.
                continue
            for (_, reply), said in zip(batch, replies, strict=True):
                if not reply.done():
                    reply.set_result(said)

    async def _connected(self, connection: Any) -> None:
        self.connections += 1
        await connection.on_connect()

    async def _let_go(self) -> None:
        """Let go of the connection, whether the server takes leave or not: one that stands still never does."""
        with suppress(Exception):
            await self._client.connection_pool.disconnect()

    def _closed(self) -> StoreUnavailable:
        return StoreUnavailable(f"the connection to {self._server} was closed")

    def _fail(self, error: Exception) -> None:
        """Answer all who wait with *error*."""
        while self._waiting:
            _, reply = self._waiting.popleft()
            if not reply.done():
                reply.set_result(error)
