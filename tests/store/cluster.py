"""A real Redis Cluster on the loopback interface for as long as a ``with`` lasts: masters and replicas."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.store.server import RedisServer

MASTERS = 3
SLOTS = 16_384
#: Seconds after which what a cluster does not do by itself it never will.
PATIENCE = 60
#: Milliseconds after which a node that is silent counts as dead.
NODE_TIMEOUT = 3000


class RedisCluster:
    """The nodes of a cluster, by the names that it calls them."""

    def __init__(self, nodes: list[RedisServer]) -> None:
        self.nodes = nodes
        #: Name and password with the at sign, for the URL.
        self.user = ""

    @property
    def url(self) -> str:
        return f"redis+cluster://{self.user}" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def masters(self) -> dict[str, RedisServer]:
        """Return the nodes that are alive and have slots, by their ids, as the others see it."""
        ports = {node.port: node for node in self.nodes}
        return {name: ports[port] for name, port, _ in self._with_slots()}

    def owner_of(self, slot: int) -> str:
        """Return the id of the node that has *slot*."""
        for name, _, slots in self._with_slots():
            for part in slots:
                first, _, last = part.partition("-")
                if int(first) <= slot <= int(last or first):
                    return name
        raise LookupError(slot)

    def await_failover(self, dead: str) -> None:
        """Wait until a replica has taken over what the master *dead* had, and all nodes know that."""
        self._until(lambda: dead not in self.masters() and len(self.masters()) == MASTERS)
        self._until(lambda: len({self._view_of(node) for node in self.nodes if node.is_running}) == 1)

    def port_of(self, key: str) -> int:
        """Return the port of the node that has *key*."""
        from redis.crc import key_slot

        owner = self.owner_of(key_slot(key.encode()))
        return self.masters()[owner].port

    def reshard(self, slots: int) -> None:
        """Move the first *slots* slots to another master, with all that is in them."""
        source = self.owner_of(0)
        target = next(name for name in self.masters() if name != source)
        self._cli(
            *("reshard", self._someone(), "--cluster-from", source, "--cluster-to", target),
            *("--cluster-slots", str(slots), "--cluster-yes"),
        )

    def join(self) -> None:
        """Give each node its share of the slots, without replicas, and wait until all know all."""
        first, count = self.nodes[0], len(self.nodes)
        for number, node in enumerate(self.nodes):
            slots = range(number * SLOTS // count, (number + 1) * SLOTS // count)
            self._ask_at(node, "CLUSTER", "ADDSLOTS", *map(str, slots))
            if node is not first:
                # Else both have the same epoch, and one gives way a moment later.
                self._ask_at(node, "CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
                self._ask_at(node, "CLUSTER", "MEET", "127.0.0.1", str(first.port))
        for node in self.nodes:
            self._until(partial(self._says, node, "cluster_state:ok", "CLUSTER", "INFO"))
            self._until(partial(self._says, node, f"cluster_slots_ok:{SLOTS}", "CLUSTER", "INFO"))

    def create(self) -> None:
        """Join the nodes, and wait until all know all."""
        addresses = [f"127.0.0.1:{node.port}" for node in self.nodes]
        self._cli("create", *addresses, "--cluster-replicas", "1", "--cluster-yes")
        for node in self.nodes:
            self._until(partial(self._says, node, "cluster_state:ok", "CLUSTER", "INFO"))
        # Who dies before its replica has joined has nobody to take over.
        self._until(
            lambda: all(b"slave0:" in self._ask_at(n, "INFO", "replication") for n in self.masters().values())
        )

    def _view_of(self, node: RedisServer) -> str:
        """Return what *node* says about who has which slots."""
        return str(sorted(self._with_slots(node)))

    def _with_slots(self, asked: RedisServer | None = None) -> Iterator[tuple[str, int, list[str]]]:
        """Yield id, port and slots of the nodes that are alive and have some, as one of them sees it."""
        node = asked or next(node for node in self.nodes if node.is_running)
        for line in self._ask_at(node, "CLUSTER", "NODES").decode().splitlines():
            name, address, flags, _, _, _, _, _, *slots = line.split()
            if "master" in flags and "fail" not in flags and slots:
                yield name, int(address.partition("@")[0].rpartition(":")[2]), slots

    def _cli(self, *arguments: str) -> None:
        program = shutil.which("redis-cli") or shutil.which("valkey-cli") or "redis-cli"
        done = subprocess.run(
            [program, "--cluster", *arguments],
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"redis-cli --cluster {arguments[0]}: {done.stdout[-2000:]}{done.stderr}")

    def _says(self, node: RedisServer, words: str, *question: str) -> bool:
        return words.encode() in self._ask_at(node, *question)

    def _someone(self) -> str:
        return f"127.0.0.1:{next(node.port for node in self.nodes if node.is_running)}"

    def _ask(self, *command: str) -> bytes:
        return self._ask_at(next(node for node in self.nodes if node.is_running), *command)

    def _ask_at(self, node: RedisServer, *command: str) -> bytes:
        from redis import connection as of_redis

        kind: Any = of_redis.Connection
        connection = kind(host="127.0.0.1", port=node.port, socket_timeout=PATIENCE)
        try:
            connection.send_command(*command)
            answer: bytes = connection.read_response()
        finally:
            connection.disconnect()
        return answer

    def _until(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not is_so():
            if time.monotonic() > end:
                raise RuntimeError(f"the cluster did not get there: {self._ask('CLUSTER', 'NODES').decode()}")
            time.sleep(0.05)


@contextmanager
def redis_cluster(folder: Path) -> Iterator[RedisCluster]:
    """Start a cluster whose files are in *folder*."""
    with ExitStack() as stack:
        nodes = []
        for number in range(2 * MASTERS):
            (own := folder / str(number)).mkdir(parents=True)
            options: dict[str, Any] = {
                "cluster_enabled": "yes",
                "cluster_node_timeout": NODE_TIMEOUT,
                # Else nobody answers for any shard while one master is away.
                "cluster_require_full_coverage": "no",
                "repl_diskless_sync_delay": 0,
            }
            nodes.append(stack.enter_context(RedisServer(own, appendonly="no", **options)))
        cluster = RedisCluster(nodes)
        cluster.create()
        yield cluster


@contextmanager
def cluster_without_replicas(folder: Path, nodes: int = 1) -> Iterator[RedisCluster]:
    """Start a cluster of so few nodes that it is there at once. Nobody takes over from one that is killed."""
    with ExitStack() as stack:
        started = []
        for number in range(nodes):
            (own := folder / f"node-{number}").mkdir()
            options: dict[str, Any] = {
                "cluster_enabled": "yes",
                # Else the one that is left takes itself for the minority.
                "cluster_node_timeout": 1000 * PATIENCE,
                "cluster_require_full_coverage": "no",
                "appendfsync": "always",
            }
            started.append(stack.enter_context(RedisServer(own, **options)))
        cluster = RedisCluster(started)
        cluster.join()
        yield cluster
