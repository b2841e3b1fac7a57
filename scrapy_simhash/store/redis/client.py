"""Server and Client: addresses, redis-py's client for a server or a cluster, the Lua scripts, and error messages.

Only this module imports redis-py.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from scrapy_simhash.exceptions import RecordDamaged, SettingError, StoreDamaged, StoreError, StoreUnavailable
from scrapy_simhash.place import without_password

_SCHEMES = ("redis://", "rediss://", "unix://", "redis+cluster://", "rediss+cluster://")
#: Max retries of a command whose connection was lost.
REPEATS = 8
_DEFAULT_PORT = 6379
#: URL options that change the type or format of replies. The store needs bytes in protocol 2, so it ignores them.
_REPLY_FORMAT = {"decode_responses", "encoding", "encoding_errors", "legacy_responses", "protocol"}
_CLUSTER = re.compile(r"(rediss?)\+cluster://(.*@)?([^/?@,]+(?:,[^/?@,]+)*)(?:/0?)?(\?.*)?", re.DOTALL)


@dataclass(frozen=True)
class Server:
    """A Redis or Valkey server, or a Redis Cluster.

    >>> str(Server("redis://:secret@db.example:6380/1"))
    'redis://db.example:6380/1'
    """

    url: str
    """A ``redis://``, ``rediss://`` (TLS) or ``unix://`` URL for ``redis.Redis.from_url``, or
    ``redis+cluster://host:port,host:port`` with one or more nodes of a cluster."""

    def __post_init__(self) -> None:
        if not self.url.startswith(_SCHEMES):
            raise SettingError(
                "SIMHASH_STORE must be a URL that begins with redis://, rediss://, unix:// or redis+cluster://,"
                f" got {self}"
            )
        if re.search(r"[\s,]\w+(\+cluster)?://", self.url):
            raise SettingError(
                "SIMHASH_STORE must be one URL; separate the nodes of a Redis Cluster by commas:"
                " redis+cluster://host:6379,host:6379"
            )
        if self.is_cluster and _CLUSTER.fullmatch(self.url) is None:
            raise SettingError(
                "SIMHASH_STORE must be a cluster URL without a database number, such as redis+cluster://:password@"
                "host:6379,host:6379. In a password, write / as %2F, ? as %3F and @ as %40"
            )

    def __str__(self) -> str:
        """Return the URL without its password and without the options of a cluster, for logs."""
        return without_password(self.url).partition("?")[0] if self.is_cluster else without_password(self.url)

    def __repr__(self) -> str:
        """Return the representation for code."""
        return f"Server({str(self)!r})"

    @property
    def is_cluster(self) -> bool:
        """Whether the URL names nodes of a cluster."""
        return "+cluster://" in self.url

    def client(self, timeout: float) -> Any:
        """Return an asyncio client of redis-py that returns bytes and connects at the first command.

        A command whose connection was lost is sent again, up to `REPEATS` times. A command to a single server that
        timed out is not sent again. *timeout* is in seconds per reply, unless the URL sets one. Raises StoreError if
        redis-py is missing or too old, and SettingError for options that redis-py rejects.
        """
        redis = library()
        address, _, query = self.url.partition("?")
        query = "&".join(part for part in query.split("&") if part.partition("=")[0] not in _REPLY_FORMAT)
        # The delays are 1 to 50 milliseconds.
        pause = redis.backoff.ExponentialBackoff(0.05, 0.001)
        options: dict[str, Any] = {
            "protocol": 2,
            "socket_timeout": float(timeout),
            "socket_connect_timeout": float(timeout),
        }
        make = redis.asyncio.Redis.from_url
        if found := _CLUSTER.fullmatch(self.url) if self.is_cluster else None:
            scheme, user, hosts, _ = (part or "" for part in found.groups())
            names = [name.strip() for name in hosts.split(",")]
            names = [name if re.search(r":\d+$", name) else f"{name}:{_DEFAULT_PORT}" for name in names]
            address = f"{scheme}://{user}{names[0]}"
            nodes = [urlsplit(f"//{name}") for name in names]
            options["startup_nodes"] = [
                redis.asyncio.cluster.ClusterNode(node.hostname, node.port) for node in nodes
            ]
            # If a node is down, only its shards are unavailable.
            options["require_full_coverage"] = False
            options["retry"] = redis.asyncio.retry.Retry(pause, REPEATS)
            make = redis.asyncio.cluster.RedisCluster.from_url
        else:
            errors = [redis.ConnectionError]
            options["retry_on_error"] = errors
            options["retry"] = redis.asyncio.retry.Retry(pause, REPEATS, tuple(errors))
        try:
            _ = urlsplit(address).port
        except ValueError:
            # Python's error message may contain part of the password.
            raise SettingError(
                f"SIMHASH_STORE must be a URL like redis://:password@host:6379/0, got {self}."
                " In a password, write / as %2F, ? as %3F, # as %23, [ as %5B and ] as %5D"
            ) from None
        try:
            client = make(f"{address}?{query}", **options)
            if not self.is_cluster:
                # Otherwise an unknown option would raise TypeError at the first command.
                client.connection_pool.make_connection()
        except (TypeError, ValueError) as error:
            raise SettingError(
                f"SIMHASH_STORE has an invalid option for the Redis server {self}: {error}"
            ) from error
        return client


def library() -> Any:
    """Return the module redis. Raises StoreError, with the name of the extra, if it is missing or too old."""
    how = "pip install 'scrapy-simhash[redis]', in a checkout pip install '.[redis]'"
    try:
        import redis.asyncio.cluster
        import redis.asyncio.retry
        import redis.backoff
    except ImportError as error:
        raise StoreError(f"SIMHASH_STORE: a store in Redis needs redis-py: {how}") from error
    if int(redis.__version__.partition(".")[0]) < 5:
        raise StoreError(
            f"SIMHASH_STORE: a store in Redis needs redis-py 5.0 or later, found {redis.__version__}: {how}"
        )
    return redis


#: Signs of temporary errors (memory full, read-only, starting, busy with a script, disconnected): the beginning of a
#: reply, or the corresponding exception of redis-py.
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
#: Parts of error messages that deny access, but do not begin with one of these codes.
_DENIED = ("Authentication required", "invalid username-password", "no permissions", "can't run this command")
_WRONG_NODE = {*("ASK", "CROSSSLOT", "MOVED"), *("AskError", "ClusterCrossSlotError", "MovedError")}
#: The position of an error in a script, in the formats of several server versions. Messages omit the position,
#: because users cannot identify a script by its hash.
_PLACE_IN_SCRIPT = re.compile(
    r"Error running script \(call to \w+\): (?:@user_script: ?\d+: )*|\.? script: (?:\w+, )?on @user_script: ?\d+"
)


#: The files of scripts. A line such as ``--- claim`` begins each script; begin.lua is prepended to it.
_FILES = ("claim.lua", "calls.lua")


@cache
def scripts() -> dict[str, tuple[str, str]]:
    """Return the source of each script by name, and its hash, under which servers cache it."""
    folder = files("scrapy_simhash.store.redis")
    beginning = (folder / "begin.lua").read_text("utf-8")
    found = {}
    for file in _FILES:
        _, *parts = re.split(r"^--- (\w+)\n", (folder / file).read_text("utf-8"), flags=re.MULTILINE)
        for name, body in zip(parts[::2], parts[1::2], strict=True):
            source = beginning + body
            found[name] = source, sha1(source.encode(), usedforsecurity=False).hexdigest()
    return found


#: Max concurrent commands to a cluster, each on its own connection.
_AT_ONCE = 64
#: Errors of redis-py and asyncio that mean a lost connection: when redis-py closes an idle connection while a command
#: takes it, as after a failover, and when a server closed it (redis-py issue 4287). redis-py does not retry them.
_CLOSED = (AttributeError, TypeError, RuntimeError)
#: Seconds before a command whose connection was closed is sent again.
_PAUSE = 0.02


class Client:
    """redis-py's client, created for the event loop that uses it, with scripts, and with errors of stores."""

    def __init__(self, server: Server, place: str, timeout: float) -> None:
        """Create a client for *server*; errors name *place*, and a reply may take *timeout* seconds.

        Raises StoreError or SettingError for errors that are found without a connection.
        """
        self._server, self._place = server, place
        self.timeout = timeout
        self._client: Any = server.client(timeout)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._no_script = library().exceptions.NoScriptError
        self._disconnected = library().ConnectionError
        #: Commands to a server that were not sent yet, each with its future reply.
        self._waiting: list[tuple[tuple[Any, ...], asyncio.Future[Any]]] = []
        self._sending: asyncio.Task[None] | None = None

    async def run(self, name: str, keys: list[str], *arguments: Any) -> Any:
        """Return the reply of a script. Raises StoreUnavailable without a reply; the script may have run.

        If the server has not cached the script, the source of the script is sent. redis-py's script objects would
        load the script on every node, and fail if a node is down.
        """
        text, its_hash = scripts()[name]
        try:
            return await self._reply("EVALSHA", its_hash, len(keys), *keys, *arguments)
        except self._no_script:
            return await self.ask("EVAL", text, len(keys), *keys, *arguments)
        except Exception as error:
            raise meaning(error, self._place) from error

    async def ask(self, command: str, *arguments: Any) -> Any:
        """Return the reply of a command. Raises StoreError."""
        try:
            return await self._reply(command, *arguments)
        except Exception as error:
            raise meaning(error, self._place) from error

    async def close(self) -> None:
        """Close all connections; the next command opens new ones, possibly in another event loop."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                if self._server.is_cluster:
                    await (client.aclose if hasattr(client, "aclose") else client.close)()
                else:
                    # This does not wait for the server, which may hang.
                    await client.connection_pool.disconnect()

    async def _reply(self, *command: Any) -> Any:
        if self._client is None:
            self._client = self._server.client(self.timeout)
            self._turns = asyncio.Semaphore(_AT_ONCE)
        if self._server.is_cluster:
            async with self._turns:
                # The cluster client also retries commands that timed out.
                return await asyncio.wait_for(_execute(self._client, command), self.timeout)
        reply = asyncio.get_running_loop().create_future()
        self._waiting.append((command, reply))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send(self._client))
        return await reply

    async def _send(self, client: Any) -> None:
        """Send the waiting commands in one pipeline, and then those that arrived in the meantime.

        With 16 concurrent claims, a pipeline takes 0.6 of the CPU time of single commands.
        """
        while self._waiting:
            batch, self._waiting = self._waiting, []
            results: list[Any]
            try:
                results = await self._results(client, [command for command, _ in batch])
            except Exception as error:
                results = [error] * len(batch)
            for (_, reply), result in zip(batch, results, strict=True):
                if reply.cancelled():
                    continue
                if isinstance(result, BaseException):
                    reply.set_exception(result)
                else:
                    reply.set_result(result)

    async def _results(self, client: Any, commands: list[tuple[Any, ...]]) -> list[Any]:
        """Return the reply of each command, or its error."""
        if len(commands) == 1:
            return [await _execute(client, commands[0])]
        pipeline = client.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        try:
            replies: list[Any] = await pipeline.execute(raise_on_error=False)
        except (self._disconnected, *_CLOSED):
            # Some releases of redis-py do not send a pipeline again.
            again = [_execute(client, command) for command in commands]
            replies = await asyncio.gather(*again, return_exceptions=True)
        return replies


async def _execute(client: Any, command: tuple[Any, ...]) -> Any:
    """Return the reply of a command, which is sent again on a new connection if its connection was closed."""
    for _ in range(REPEATS):
        try:
            return await client.execute_command(*command)
        except _CLOSED:
            await asyncio.sleep(_PAUSE)
    return await client.execute_command(*command)


def meaning(error: Exception, place: str) -> StoreError:
    """Convert an *error* of redis-py or of the system into an error of a store; *place* names the store.

    A wrong password or a missing permission is a plain StoreError, because retrying does not help.
    """
    if isinstance(error, StoreError):
        return error
    said = str(error) or type(error).__name__
    # Before redis-py 6 the sign is only the first word. In the error of a script, the sign may be anywhere.
    signs = {word.strip("-:'") for word in said.split()} | {kind.__name__ for kind in type(error).__mro__}
    is_script_error = "user_script" in said
    said = _PLACE_IN_SCRIPT.sub("", said)
    # The cluster client wraps the errors of its nodes.
    if signs & _REFUSED or any(words in said for words in _DENIED):
        return StoreError(
            f"{place} denies access: {said}. docs/how-to/stores.rst lists the commands that a user needs"
        )
    if "WRONGTYPE" in signs:
        return StoreDamaged(f"{place} has a key that does not belong to a store: {said}. Nothing was changed")
    if "Cluster mode is not enabled" in said:
        return StoreError(
            f"{place} is not a Redis Cluster: set SIMHASH_STORE to redis:// and its host and port"
        )
    if signs & _FOR_NOW or not isinstance(error, library().ResponseError):
        return StoreUnavailable(f"{place} does not answer: {said}")
    if signs & _WRONG_NODE:
        return StoreError(
            f"{place} is a node of a Redis Cluster, which holds a store in shards: set SIMHASH_STORE to"
            " redis+cluster:// and its host and port, or to a server that does not run in cluster mode"
            f" ({said})"
        )
    if is_script_error:
        return RecordDamaged(f"{place} is damaged: a record cannot be read: {said}")
    return StoreError(f"{place} returned an error: {said}")
