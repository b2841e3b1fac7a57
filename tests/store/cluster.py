"""Run a real Redis Cluster of masters and replicas on the loopback interface."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.store.server import RedisServer  # isort: skip  (it puts local_redis on the path)
from local_redis import LOOPBACK, MASTERS, PATIENCE, REPLICAS, ask, await_reply, join_cluster

#: Milliseconds after which a node that does not answer counts as failed.
NODE_TIMEOUT = 3000


class RedisCluster:
    """The nodes of a cluster."""

    def __init__(self, nodes: list[RedisServer]) -> None:
        self.nodes = nodes

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def masters(self) -> dict[str, RedisServer]:
        """Return the running nodes with slots, by id, as another node reports them."""
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
        """Wait until a replica has replaced the master *dead*, and all nodes report it."""
        self._until(lambda: dead not in self.masters() and len(self.masters()) == MASTERS)
        self._until(lambda: len({self._view_of(node) for node in self.nodes if node.is_running}) == 1)

    def port_of(self, key: str) -> int:
        """Return the port of the node that has *key*."""
        from redis.crc import key_slot

        owner = self.owner_of(key_slot(key.encode()))
        return self.masters()[owner].port

    def reshard(self, slots: int) -> None:
        """Move the first *slots* slots to another master, with all their keys."""
        source, target = self.owner_of(0), next(name for name in self.masters() if name != self.owner_of(0))
        old, new = (self.masters()[name].port for name in (source, target))
        for slot in range(slots):
            ask(new, "CLUSTER", "SETSLOT", slot, "IMPORTING", source)
            ask(old, "CLUSTER", "SETSLOT", slot, "MIGRATING", target)
            while keys := ask(old, "CLUSTER", "GETKEYSINSLOT", slot, 100):
                ask(old, "MIGRATE", LOOPBACK, new, "", 0, 1000 * PATIENCE, "KEYS", *keys)
            for port in (new, old):
                ask(port, "CLUSTER", "SETSLOT", slot, "NODE", target)

    def _view_of(self, node: RedisServer) -> str:
        """Return the slots of each node, as *node* reports them."""
        return str(sorted(self._with_slots(node)))

    def _with_slots(self, node_asked: RedisServer | None = None) -> Iterator[tuple[str, int, list[str]]]:
        """Yield id, port and slots of the running nodes with slots, as one of them reports them."""
        node = node_asked or next(node for node in self.nodes if node.is_running)
        for line in ask(node.port, "CLUSTER", "NODES").decode().splitlines():
            name, address, flags, _, _, _, _, _, *slots = line.split()
            if "master" in flags and "fail" not in flags and slots:
                yield name, int(address.partition("@")[0].rpartition(":")[2]), slots

    def _until(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not is_so():
            if time.monotonic() > end:
                raise RuntimeError(f"the cluster did not get there: {list(self._with_slots())}")
            time.sleep(0.05)


@contextmanager
def redis_cluster(folder: Path) -> Iterator[RedisCluster]:
    """Start a cluster of masters and replicas whose files are in *folder*."""
    options = {"cluster_node_timeout": NODE_TIMEOUT, "repl_diskless_sync_delay": 0, "appendonly": "no"}
    with _joined(folder, MASTERS * (1 + REPLICAS), REPLICAS, options) as cluster:
        # A master that is killed before its replica has joined is not replaced.
        for node in cluster.nodes[:MASTERS]:
            await_reply(node.port, b"slave0:", "INFO", "replication")
        yield cluster


@contextmanager
def cluster_without_replicas(folder: Path, nodes: int = 1) -> Iterator[RedisCluster]:
    """Start a small cluster that is ready at once. A killed node is not replaced."""
    # Otherwise the remaining master considers itself in the minority.
    options = {"cluster_node_timeout": 1000 * PATIENCE, "appendfsync": "always"}
    with _joined(folder, nodes, 0, options) as cluster:
        yield cluster


@contextmanager
def _joined(folder: Path, nodes: int, replicas: int, options: dict[str, Any]) -> Iterator[RedisCluster]:
    # Otherwise no shard is available while one master is down.
    common = {"cluster_enabled": "yes", "cluster_require_full_coverage": "no"}
    with ExitStack() as stack:
        started = []
        for number in range(nodes):
            (own := folder / str(number)).mkdir(parents=True)
            started.append(stack.enter_context(RedisServer(own, **common, **options)))
        join_cluster([node.port for node in started], replicas)
        yield RedisCluster(started)
