"""What a server's complaints mean for a store."""

from __future__ import annotations

from scrapy_simhash.exceptions import StoreDamaged, StoreError, StoreUnavailable
from scrapy_simhash.store.redis.connection import library

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
#: Why one server must hold a store; for every refusal of a cluster.
NO_CLUSTER = (
    "is a Redis Cluster, which cannot hold a store: set SIMHASH_REDIS_URL to a server that does not run in cluster"
    " mode"
)


def meaning(error: Exception, place: str) -> StoreError:
    """Return the error of a store that *error* of redis-py, or of the system, amounts to; *place* names the store.

    A wrong password or a missing permission is a plain StoreError: somebody must do something.
    """
    if isinstance(error, StoreError):
        return error
    said = str(error) or type(error).__name__
    # In a script's error the word is somewhere inside.
    signs = {word.strip("-:'") for word in said.split()} | {kind.__name__ for kind in type(error).__mro__}
    if signs & _REFUSED:
        return StoreError(f"{place} denies access: {said}")
    if "WRONGTYPE" in signs:
        return StoreDamaged(f"{place} has a key that does not belong to a store: {said}. Nothing was changed")
    if signs & _CLUSTER:
        return StoreError(f"{place} {NO_CLUSTER} ({said})")
    if isinstance(error, library().ResponseError) and not signs & _FOR_NOW:
        return StoreError(f"{place} answers with an error: {said}")
    return StoreUnavailable(f"{place} does not answer: {said}")
