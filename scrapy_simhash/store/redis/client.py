"""Client: redis-py's client for a server or a cluster, the Lua scripts, and errors as one sentence."""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import suppress
from functools import cache, partial
from hashlib import sha1
from importlib.resources import files
from typing import Any

from scrapy_simhash.exceptions import RecordDamaged, StoreDamaged, StoreError, StoreUnavailable
from scrapy_simhash.store.redis.connection import REPEATS, Server, Servers, library

#: Signs of temporary errors: the beginning of a reply, or the matching class of redis-py. Memory full, read-only,
#: starting, busy with a script, disconnected.
_FOR_NOW = {
    *("BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MISCONF", "NOREPLICAS", "OOM", "READONLY", "TRYAGAIN"),
    *("ClusterDownError", "ClusterError", "MasterDownError", "OutOfMemoryError", "ReadOnlyError"),
    *("SlotNotCoveredError", "TryAgainError"),
}
_REFUSED = {
    *("NOAUTH", "NOPERM", "WRONGPASS"),
    *("AuthenticationError", "AuthenticationWrongNumberOfArgsError", "AuthorizationError"),
    "NoPermissionError",
}
_CLUSTER = {*("ASK", "CROSSSLOT", "MOVED"), *("AskError", "ClusterCrossSlotError", "MovedError")}
#: The server's message about a missing permission in a script: the command, or the line of the script that calls it.
_IN_SCRIPT = re.compile(
    r"script: .*no permissions to run the '(\w+)'|can't run this command.*@?user_script: ?(\d+)", re.DOTALL
)
#: The position of an error in a script, in the formats of several server versions. Removed, since users cannot
#: identify a script by its hash.
_PLACE_IN_SCRIPT = re.compile(
    r"Error running script \(call to \w+\): (?:@user_script: ?\d+: )*|\.? script: (?:\w+, )?on @user_script: ?\d+"
)
_CALLED = re.compile(r"redis\.call\('([A-Z]+)'")
#: asyncio's message, which repeats the address.
_CALL_FAILED = re.compile(r"(?<=Error )(\d+)(.*)Connect call failed \(.*\)")


@cache
def script(name: str) -> tuple[str, str]:
    """Return the script in ``<name>.lua`` after the common beginning, and its hash, under which servers cache it."""
    folder = files("scrapy_simhash.store.redis")
    source = "".join((folder / f"{part}.lua").read_text("utf-8") for part in ("begin", name))
    return source, sha1(source.encode(), usedforsecurity=False).hexdigest()


#: Max commands per pipeline.
_MOST = 128
#: Max concurrent commands to a cluster, each on its own connection.
_AT_ONCE = 64


class Client:
    """redis-py's client, made for the event loop that uses it.

    Commands that arrive while a server answers are sent together in a pipeline; with 16 concurrent claims this takes
    a third less processor time. A command whose connection was lost is sent again, since all scripts are idempotent.
    A command that timed out is not sent again.
    """

    def __init__(self, server: Server | Servers, place: str, timeout: float) -> None:
        """Create a client for *server*; errors name *place*, and a reply may take *timeout* seconds.

        Raises StoreError or SettingError for errors that show without a connection.
        """
        self._server, self._place = server, place
        self.timeout = timeout
        self._client: Any = server.client(timeout)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        redis = library()
        self._no_script = redis.exceptions.NoScriptError
        self._retry = redis.asyncio.retry.Retry(redis.backoff.NoBackoff(), REPEATS, (redis.ConnectionError,))
        self._waiting: list[tuple[tuple[Any, ...], asyncio.Future[Any]]] = []
        self._sending: asyncio.Task[None] | None = None

    async def run(self, name: str, keys: list[str], *arguments: Any) -> Any:
        """Return the reply of a script. Raises StoreUnavailable without a reply; the script may have run.

        A server that has not cached the script gets its text. redis-py's script objects would load it on every node
        and fail if one is down.
        """
        text, its_hash = script(name)
        reply = await self._reply("EVALSHA", its_hash, len(keys), *keys, *arguments)
        if isinstance(reply, self._no_script):
            reply = await self._reply("EVAL", text, len(keys), *keys, *arguments)
        if isinstance(reply, Exception):
            raise meaning(reply, self._place, name) from reply
        return reply

    async def ask(self, command: str, *arguments: Any) -> Any:
        """Return the reply of a command. Raises StoreError."""
        reply = await self._reply(command, *arguments)
        if isinstance(reply, Exception):
            raise meaning(reply, self._place) from reply
        return reply

    async def close(self) -> None:
        """Close all connections; the next command opens new ones, possibly in another event loop."""
        sending, self._sending = self._sending, None
        if sending is not None:
            sending.cancel()
            await asyncio.wait([sending])
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                if isinstance(self._server, Server):
                    # Without waiting for the server, which may hang.
                    await client.connection_pool.disconnect()
                else:
                    await (client.aclose if hasattr(client, "aclose") else client.close)()

    async def _reply(self, *command: Any) -> Any:
        """Return the reply of a command, or the exception in its place."""
        if self._client is None:
            self._client = self._server.client(self.timeout)
            self._turns = asyncio.Semaphore(_AT_ONCE)
        if isinstance(self._server, Servers):
            # The cluster client finds the node, and retries commands itself, including those that timed out.
            async with self._turns:
                try:
                    return await asyncio.wait_for(self._client.execute_command(*command), self.timeout)
                except Exception as error:
                    return error
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, reply))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())
        return await reply

    async def _send(self) -> None:
        """Send waiting commands until none is left."""
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
                try:
                    replies = await self._retry.call_with_retry(partial(self._trip, batch), _go_on)
                except Exception as error:
                    replies = [error] * len(batch)
                except BaseException:
                    self._waiting = batch + self._waiting
                    raise
                for (_, reply), said in zip(batch, replies, strict=True):
                    if not reply.done():
                        reply.set_result(said)
        finally:
            # Cancelled because the store is being closed.
            waiting, self._waiting = self._waiting, []
            for _, reply in waiting:
                if not reply.done():
                    reply.set_result(StoreUnavailable(f"the connection to {self._server} was closed"))

    async def _trip(self, batch: list[tuple[tuple[Any, ...], asyncio.Future[Any]]]) -> list[Any]:
        pipeline = self._client.pipeline(transaction=False)
        for command, _ in batch:
            pipeline.execute_command(*command)
        replies: list[Any] = await pipeline.execute(raise_on_error=False)
        return replies


async def _go_on(error: Exception) -> None:
    """Do nothing between two attempts, since the pipeline has closed its connection."""


def meaning(error: Exception, place: str, name: str = "") -> StoreError:
    """Convert *error* of redis-py or of the system into an error of a store; *place* names the store.

    *name* is the name of the script. A wrong password or a missing permission is a plain StoreError, since retrying
    does not help.
    """
    if isinstance(error, StoreError):
        return error
    said = str(error) or type(error).__name__
    said = _CALL_FAILED.sub(lambda found: f"{found[1]}{found[2]}{os.strerror(int(found[1]))}", said)
    # Before redis-py 6 the sign is only the first word. In the error of a script it may be anywhere.
    signs = {word.strip("-:'") for word in said.split()} | {kind.__name__ for kind in type(error).__mro__}
    if commands := _commands_denied(said, name):
        return StoreError(
            f"{place} denies access: the user may not run {commands}, which stores need. Allow it with ACL SETUSER;"
            " docs/how-to/stores.rst lists all commands"
        )
    is_script_error = "user_script" in said
    said = _PLACE_IN_SCRIPT.sub("", said)
    # The cluster client wraps the errors of its nodes.
    if signs & _REFUSED or "Authentication required" in said or "invalid username-password" in said:
        return StoreError(f"{place} denies access: {said}")
    if "WRONGTYPE" in signs:
        return StoreDamaged(f"{place} has a key that does not belong to a store: {said}. Nothing was changed")
    if "Cluster mode is not enabled" in said:
        return StoreError(
            f"{place} is not a Redis Cluster: set SIMHASH_STORE to redis:// and its host and port"
        )
    if signs & _FOR_NOW or not isinstance(error, library().ResponseError):
        return StoreUnavailable(f"{place} does not answer: {said}")
    if signs & _CLUSTER:
        return StoreError(
            f"{place} is a node of a Redis Cluster, which holds a store in shards: set SIMHASH_STORE to"
            " redis+cluster:// and its host and port, or to a server that does not run in cluster mode"
            f" ({said})"
        )
    if is_script_error:
        return RecordDamaged(f"{place} is damaged: a record cannot be read: {said}")
    return StoreError(f"{place} answers with an error: {said}")


def _commands_denied(said: str, name: str) -> str:
    """Return the forbidden commands in the line of the script *name*; empty for any other error."""
    denied = _IN_SCRIPT.search(said) if name else None
    if denied is None:
        return ""
    if denied[1]:
        return denied[1].upper()
    lines = script(name)[0].splitlines()[int(denied[2]) - 1 :][:1]
    commands = _CALLED.findall("".join(lines))
    return " or ".join(dict.fromkeys(commands)) or f"a command that the script {name}.lua calls"
