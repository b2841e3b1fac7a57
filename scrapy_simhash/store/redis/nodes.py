"""Nodes: the server of a store, or which node of a cluster has which shard, and a line to each.

Shards may move while they are asked for.

redis-py's own client for clusters is not used: when one node fails it closes the connections to all of them, so that
claims elsewhere lose their answers. After MOVED, ASK and TRYAGAIN, which mean that nothing was executed, a command is
sent again, and after a connection is lost: each has the same result when it is executed twice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.store.redis.connection import Server, Servers, library
from scrapy_simhash.store.redis.layout import KEYS
from scrapy_simhash.store.redis.line import ConnectionLost, Line, meaning, script, signs_of

#: How often a command is sent again if its connection is lost.
_REPEATS = 2
#: Follows the arguments of a claim that is sent again.
_AGAIN = b"again"
#: Seconds between two questions for the layout of the cluster, and before a shard that moves is asked for again.
_PAUSE, _MOVING = 0.5, 0.05
#: How a node says that nothing was executed, because the slot is elsewhere: for good, for this once, for a moment.
_MOVED, _ASK, _TRY_AGAIN = {"MOVED", "MovedError"}, {"ASK", "AskError"}, {"TRYAGAIN", "TryAgainError"}
_DOWN = {"CLUSTERDOWN", "ClusterDownError"}


class Nodes:
    """The server of a store, or the nodes of its cluster, for one event loop."""

    def __init__(
        self, servers: Server | Servers, place: str, tag_of: Callable[[int], str], timeout: float
    ) -> None:
        """Make the way to *servers*. Errors name *place*; all keys of a shard begin with what *tag_of* returns."""
        self.tag_of = tag_of
        self._servers = servers
        self._place = place
        self._timeout = timeout
        # By slot, as the cluster says.
        self._owners: dict[int, Server] = {}
        self._known: dict[str, Server] = {}
        self._lines: dict[str, Line] = {}
        self._looking: asyncio.Task[None] | None = None
        self._looked = 0.0
        # Why nobody said who has which slot, as of the last time that somebody was asked.
        self._refusal: Exception | None = None
        redis = library()
        self._slot_of = cache(lambda shard: redis.crc.key_slot(tag_of(shard).encode()))
        self._answer, self._no_script = redis.exceptions.ResponseError, redis.exceptions.NoScriptError
        if isinstance(servers, Server):
            # What is wrong with it is told now.
            self._line(servers)

    @property
    def connections(self) -> int:
        """How often a server was connected: one that was there before may have died meanwhile."""
        return sum(line.connections for line in self._lines.values())

    async def ask(self, shard: int, name: str, *arguments: Any) -> Any:
        """Return the reply to a command about keys of *shard*, or to one of our scripts.

        Their names have small letters, and they take all keys of the shard first. If the connection is lost, the
        command is sent again at once; a claim is then marked as one that may have been executed. Raises
        StoreUnavailable when there is no answer: it may have been executed all the same. Raises other StoreErrors as
        ``meaning`` has them.
        """
        again: tuple[bytes, ...] = ()
        repeats = 0
        while True:
            try:
                return await self._ask(shard, name, *arguments, *again)
            except ConnectionLost as error:
                if repeats == _REPEATS:
                    raise StoreUnavailable(str(error)) from error
                repeats += 1
                again = (_AGAIN,) if name == "claim" else ()

    async def _ask(self, shard: int, name: str, *arguments: Any) -> Any:
        if name.islower():
            reply = await self._reply(shard, "EVALSHA", script(name)[1], len(KEYS), *arguments)
            if isinstance(reply, self._no_script):
                # It has not run yet since the server started. EVAL keeps it for all that come after.
                reply = await self._reply(shard, "EVAL", script(name)[0], len(KEYS), *arguments)
        else:
            reply = await self._reply(shard, name, *arguments)
        if isinstance(reply, Exception):
            raise meaning(reply, self._place, name) from reply
        return reply

    async def renew(self) -> None:
        """Begin anew with the next command: what is known of the servers may be wrong by now.

        Of a cluster the connections stay, those of other shards among them: it is asked who has which slot.
        """
        if isinstance(self._servers, Server):
            await self.hang_up()
        elif looking := self._find_out():
            # Whoever waits for that waits for one answer.
            await asyncio.wait([looking])

    async def hang_up(self) -> None:
        """Let go of all connections."""
        if self._looking is not None:
            self._looking.cancel()
        for line in self._lines.values():
            await line.hang_up()

    def _reply(self, shard: int, *command: Any) -> Awaitable[Any]:
        """Return the reply to *command*, an exception in place of one included."""
        if isinstance(self._servers, Server):
            return self._line(self._servers).reply(*command)
        return self._reply_of_owner(self._servers, shard, command)

    async def _reply_of_owner(self, cluster: Servers, shard: int, command: tuple[Any, ...]) -> Any:
        """Return the reply of the node that has *shard*, wherever that moves to meanwhile."""
        slot = self._slot_of(shard)
        if slot not in self._owners:
            await self.renew()
        owner = self._owners.get(slot)
        if owner is None:
            return self._refusal or StoreUnavailable(f"{cluster} has no node for a shard")
        asked, is_asking = owner, False
        end = time.monotonic() + self._timeout
        while True:
            line = self._line(asked)
            if is_asking:
                # On the same connection, right before.
                line.reply("ASKING")
            reply = await line.reply(*command)
            if not isinstance(reply, Exception):
                return reply
            signs = signs_of(reply)
            if not signs & (_MOVED | _ASK | _TRY_AGAIN):
                if signs & _DOWN or not isinstance(reply, self._answer):
                    # Its shards may be elsewhere by the next question.
                    self._find_out()
                return StoreUnavailable(f"{owner}: {reply}") if signs & _DOWN else reply
            if time.monotonic() > end:
                return StoreUnavailable(f"{owner}: a shard keeps moving ({reply})")
            asked, is_asking = owner, bool(signs & _ASK)
            if signs & _TRY_AGAIN:
                await asyncio.sleep(_MOVING)
                continue
            host, _, port = str(reply).split()[-1].rpartition(":")
            asked = cluster.at(host.strip("[]") or _host_of(owner), int(port))
            if not is_asking:
                owner = self._owners[slot] = asked

    def _find_out(self) -> asyncio.Task[None] | None:
        """Return who asks for the layout of the cluster; None if that was answered just now."""
        if self._looking is not None and not self._looking.done():
            return self._looking
        if time.monotonic() - self._looked < _PAUSE:
            return None
        self._looking = asyncio.create_task(self._look())
        return self._looking

    async def _look(self) -> None:
        """Note who has which slot, as the first node says that knows."""
        assert isinstance(self._servers, Servers)
        self._looked = time.monotonic()
        named = {server.url: server for server in self._servers.named}

        async def slots(server: Server) -> tuple[Server, Any]:
            return server, await self._line(server).reply("CLUSTER", "SLOTS")

        for answer in asyncio.as_completed([slots(server) for server in (self._known or named).values()]):
            asked, layout = await answer
            if not isinstance(layout, list):
                self._refusal = layout
                continue
            self._refusal, self._known = None, dict(named)
            for first, last, *nodes in layout:
                # A node that does not know its own name is called as it was asked.
                hosts = [(node[0] or b"").decode() or _host_of(asked) for node in nodes]
                servers = [self._servers.at(host, node[1]) for host, node in zip(hosts, nodes, strict=True)]
                self._known |= {server.url: server for server in servers}
                self._owners |= dict.fromkeys(range(first, last + 1), servers[0])
            if layout:
                return

    def _line(self, server: Server) -> Line:
        line = self._lines.get(server.url)
        if line is None:
            line = self._lines[server.url] = Line(server, self._timeout)
        return line


def _host_of(server: Server) -> str:
    return str(server).partition("://")[2].rpartition(":")[0].strip("[]")
