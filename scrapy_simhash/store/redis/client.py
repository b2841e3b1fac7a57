"""Client: redis-py's client of a server or a cluster, our scripts, and the errors of both in one sentence."""

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

#: Signs of errors: what a reply begins with, or the class of redis-py that stands for it. Full, read-only, starting,
#: busy with a script, cut off.
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
#: The server's message about a script without a permission: the command, or the line of the script that calls it.
_IN_SCRIPT = re.compile(
    r"script: .*no permissions to run the '(\w+)'|can't run this command.*@?user_script: ?(\d+)", re.DOTALL
)
#: Where in which script an error came, as servers of several versions say it: nobody knows the script by its hash.
_PLACE_IN_SCRIPT = re.compile(
    r"Error running script \(call to \w+\): (?:@user_script: ?\d+: )*|\.? script: (?:\w+, )?on @user_script: ?\d+"
)
_CALLED = re.compile(r"redis\.call\('([A-Z]+)'")
#: asyncio's message, which repeats the address, instead of the system's message.
_CALL_FAILED = re.compile(r"(?<=Error )(\d+)(.*)Connect call failed \(.*\)")


@cache
def script(name: str) -> tuple[str, str]:
    """Return the script in ``<name>.lua``, with what all begin with, and its hash, by which servers know it later."""
    folder = files("scrapy_simhash.store.redis")
    source = "".join((folder / f"{part}.lua").read_text("utf-8") for part in ("begin", name))
    return source, sha1(source.encode(), usedforsecurity=False).hexdigest()


#: Commands that go out together: so many that one round trip for all costs little.
_MOST = 128
#: Commands under way to a cluster, each on a connection of its own.
_AT_ONCE = 64


class Client:
    """redis-py's client, made for the event loop that uses it.

    Commands that come while a server answers are sent together, in a pipeline: with 16 claims under way that takes
    a third less processor time. A command whose connection was lost is sent again, since no script does harm when it
    comes twice. One that got no answer in time is not.
    """

    def __init__(self, server: Server | Servers, place: str, timeout: float) -> None:
        """Make a client of *server*; errors name *place*, and an answer may take *timeout* seconds.

        Raises StoreError or SettingError for what can be seen without a connection.
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
        """Return the reply of a script. Raises StoreUnavailable if there is none: it may have been executed.

        A server that does not know the script gets its text: redis-py's own script objects load it on every node,
        and fail where one is away.
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
        """Close all connections; the next command makes others, perhaps in another event loop."""
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
            # The client of a cluster finds the node, and repeats commands by itself, also those that got no answer.
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
        """Send what waits, until nothing does."""
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
            # It was cancelled: the store is being closed.
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
    """Do nothing between two attempts: the pipeline has closed its connection."""


def meaning(error: Exception, place: str, name: str = "") -> StoreError:
    """Return the error of a store that *error* of redis-py, or of the system, amounts to; *place* names the store.

    *name* is that of the script. A wrong password or a missing permission is a plain StoreError: the user must act.
    """
    if isinstance(error, StoreError):
        return error
    said = str(error) or type(error).__name__
    said = _CALL_FAILED.sub(lambda found: f"{found[1]}{found[2]}{os.strerror(int(found[1]))}", said)
    # Before redis-py 6 the sign is the first word only. In a script's error it is somewhere inside.
    signs = {word.strip("-:'") for word in said.split()} | {kind.__name__ for kind in type(error).__mro__}
    if commands := _commands_denied(said, name):
        return StoreError(
            f"{place} denies access: the user may not run {commands}, which stores need. Allow it with ACL SETUSER;"
            " docs/how-to/stores.rst lists all commands"
        )
    is_script_error = "user_script" in said
    said = _PLACE_IN_SCRIPT.sub("", said)
    # The client of a cluster wraps what its nodes answer.
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
    """Return the commands in the line of the script *name* that the user may not run; empty for another error."""
    denied = _IN_SCRIPT.search(said) if name else None
    if denied is None:
        return ""
    if denied[1]:
        return denied[1].upper()
    lines = script(name)[0].splitlines()[int(denied[2]) - 1 :][:1]
    commands = _CALLED.findall("".join(lines))
    return " or ".join(dict.fromkeys(commands)) or f"a command that the script {name}.lua calls"
