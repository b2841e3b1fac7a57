"""Nodes: which server has which shard, and a line to each. Shards may move while they are asked for.

redis-py's own client for clusters is not used: when one node fails it closes the connections to all of them, so that
claims elsewhere lose their answers, and it sends again what may have been executed. MOVED, ASK and TRYAGAIN say that
nothing was executed; only after these a command is sent once more.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.store.damage import Damage
from scrapy_simhash.store.redis.connection import Server, Servers, library
from scrapy_simhash.store.redis.line import Asker, Line
from scrapy_simhash.store.redis.replica import Compared

#: Seconds between two questions for the layout of the cluster, and before a shard that moves is asked for again.
_PAUSE, _MOVING = 0.5, 0.05
#: Errors of redis-py, as a cluster calls them; versions before 6 leave the word in the text.
_WORDS = {
    "MovedError": "MOVED",
    "AskError": "ASK",
    "TryAgainError": "TRYAGAIN",
    "ClusterDownError": "CLUSTERDOWN",
}
Command = tuple[Any, ...]


class Nodes:
    """The nodes of one store, for one event loop; *tag_of* returns what all keys of a shard begin with."""

    def __init__(self, servers: Servers, tag_of: Callable[[int], str], timeout: float) -> None:
        self._servers = servers
        self._tag_of = tag_of
        self._timeout = timeout
        self._slots: dict[int, int] = {}
        # By slot, as the cluster says.
        self._owners: dict[int, Server] = {}
        self._known: dict[str, Server] = {}
        self._lines: dict[str, Line] = {}
        self._looking: asyncio.Task[None] | None = None
        self._looked = 0.0
        # Why nobody said who has which slot, as of the last time that somebody was asked.
        self._refusal: Exception | None = None
        redis = library()
        self._key_slot = redis.crc.key_slot
        self._answer = redis.exceptions.ResponseError

    async def reply(self, shard: int, *command: Any) -> Any:
        """Return the reply to *command*, which is about keys of *shard*; an exception in place of one included."""
        slot = self._slot(shard)
        owner = self._owners.get(slot)
        if owner is None:
            await self.refresh()
            owner = self._owners.get(slot)
        reply: Any = None
        if owner is not None:
            reply = await self._line(owner).reply(*command)
            if not isinstance(reply, Exception):
                return reply
        return await self._redirected(slot, owner, command, reply)

    async def replies(self, commands: Sequence[tuple[int, Command]]) -> list[Any]:
        """Return the replies to commands, each about a shard; see ``reply``."""
        return await asyncio.gather(*[self.reply(shard, *command) for shard, command in commands])

    async def refresh(self) -> None:
        """Ask the nodes which of them has which slot; whoever waits for that waits for one answer."""
        if looking := self._find_out():
            await asyncio.wait([looking])

    async def hang_up(self) -> None:
        """Let go of all connections."""
        if self._looking is not None:
            self._looking.cancel()
        for line in self._lines.values():
            await line.hang_up()

    async def _redirected(self, slot: int, owner: Server | None, command: Command, reply: Any) -> Any:
        """Return what *command* comes to, whose first *reply* was an error, or None where no node has the slot."""
        end = time.monotonic() + self._timeout
        while owner is not None:
            if not isinstance(reply, Exception):
                return reply
            word, about = _refusal(reply)
            target = owner
            if word in ("MOVED", "ASK"):
                host, _, port = about.split()[-1].rpartition(":")
                target = self._servers.at(host.strip("[]") or _host_of(owner), int(port))
                if word == "MOVED":
                    owner = self._owners[slot] = target
            elif word == "TRYAGAIN":
                await asyncio.sleep(_MOVING)
            else:
                if word == "CLUSTERDOWN" or not isinstance(reply, self._answer):
                    # Its shards may be elsewhere by the next question.
                    self._find_out()
                return StoreUnavailable(f"{owner}: {reply}") if word == "CLUSTERDOWN" else reply
            if time.monotonic() > end:
                return StoreUnavailable(f"{owner}: a shard keeps moving ({reply})")
            line = self._line(target)
            if word == "ASK":
                # On the same connection, right before.
                line.reply("ASKING")
            reply = await line.reply(*command)
        return self._refusal or StoreUnavailable(f"{self._servers} has no node for a shard")

    def _find_out(self) -> asyncio.Task[None] | None:
        """Return who asks for the layout of the cluster; None if that was answered just now."""
        if self._looking is not None and not self._looking.done():
            return self._looking
        if time.monotonic() - self._looked < _PAUSE:
            return None
        self._looking = asyncio.create_task(self._look())
        return self._looking

    async def _look(self) -> None:
        self._looked = time.monotonic()
        known = self._known or {server.url: server for server in self._servers.named}

        async def asked(server: Server) -> bool:
            return self._take(server, await self._line(server).reply("CLUSTER", "SLOTS"))

        for answer in asyncio.as_completed([asked(server) for server in known.values()]):
            if await answer:
                return

    def _take(self, asked: Server, layout: Any) -> bool:
        """Note who has which slot, and return whether *layout* says that.

        A node that does not know its own name is called as it was *asked*.
        """
        if not isinstance(layout, list):
            self._refusal = layout
            return False
        self._refusal = None
        host = _host_of(asked)
        self._known = {server.url: server for server in self._servers.named}
        for first, last, *nodes in layout:
            servers = [self._servers.at((node[0] or b"").decode() or host, node[1]) for node in nodes]
            self._known |= {server.url: server for server in servers}
            self._owners |= dict.fromkeys(range(first, last + 1), servers[0])
        return bool(layout)

    def _slot(self, shard: int) -> int:
        slot = self._slots.get(shard)
        if slot is None:
            slot = self._slots[shard] = self._key_slot(self._tag_of(shard).encode())
        return slot

    def _line(self, server: Server) -> Line:
        line = self._lines.get(server.url)
        if line is None:
            line = self._lines[server.url] = Line(server, str(server), (), self._timeout)
        return line


class Shard(NamedTuple):
    """What the shards of one store share."""

    line: Callable[[str, list[str]], Asker]
    """Makes the way to it, for how messages call it and the names of its keys."""
    compared: Compared
    damage: Damage
    token: bytes
    """Of the run: the same in all shards."""
    started: int


class ShardLine(Asker):
    """The way to one shard, wherever it is."""

    def __init__(self, nodes: Nodes, shard: int, place: str, keys: Sequence[str]) -> None:
        super().__init__(place, keys)
        self._nodes = nodes
        self._shard = shard

    def reply(self, *command: Any) -> Any:
        """See above."""
        return self._nodes.reply(self._shard, *command)

    async def hang_up(self) -> None:
        """Find out where the shard is now. The connections are those of all shards."""
        await self._nodes.refresh()


def _refusal(reply: Exception) -> tuple[str, str]:
    """Return the word by which a server refuses a command, and what it says about it."""
    text = str(reply)
    word = _WORDS.get(type(reply).__name__)
    return (word, text) if word else (text.partition(" ")[0], text)


def _host_of(server: Server) -> str:
    return str(server).partition("://")[2].rpartition(":")[0].strip("[]")
