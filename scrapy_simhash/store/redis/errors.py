"""What a server's complaints mean for a store."""

from __future__ import annotations

import re

from scrapy_simhash.exceptions import StoreDamaged, StoreError, StoreUnavailable
from scrapy_simhash.store.redis.connection import library
from scrapy_simhash.store.redis.scripts import script

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
#: Why a node of a cluster is no server for a whole store; for every such refusal.
NO_CLUSTER = (
    "is a node of a Redis Cluster, which holds a store in shards: set SIMHASH_REDIS_URL to redis+cluster:// and its"
    " host and port, or to a server that does not run in cluster mode"
)


#: What a server says of a script that may not call a command, and the line of the script in which it does.
_IN_SCRIPT = re.compile(r"can't run this command.*@?user_script: ?(\d+)", re.DOTALL)
#: Where in which script an error came, as servers of several versions say it: its hash tells nobody anything.
_PLACE_IN_SCRIPT = re.compile(
    r"Error running script \(call to \w+\): (?:@user_script: ?\d+: )*|\.? script: \w+, on @user_script: ?\d+"
)
_CALLED = re.compile(r"redis\.call\('([A-Z]+)'")


def meaning(error: Exception, place: str, name: str = "") -> StoreError:
    """Return the error of a store that *error* of redis-py, or of the system, amounts to; *place* names the store.

    *name* is that of the script or command.

    A wrong password or a missing permission is a plain StoreError: somebody must do something.
    """
    if isinstance(error, StoreError):
        return error
    said = str(error) or type(error).__name__
    # In a script's error the word is somewhere inside.
    signs = {word.strip("-:'") for word in said.split()} | {kind.__name__ for kind in type(error).__mro__}
    if commands := _commands_denied(said, name):
        return StoreError(
            f"{place} denies access: the user may not run {commands}, which stores need. Allow it with ACL SETUSER;"
            " docs/reference/redis-layout.rst lists all commands"
        )
    said = _PLACE_IN_SCRIPT.sub("", said)
    if signs & _REFUSED:
        return StoreError(f"{place} denies access: {said}")
    if "WRONGTYPE" in signs:
        return StoreDamaged(f"{place} has a key that does not belong to a store: {said}. Nothing was changed")
    if signs & _CLUSTER:
        return StoreError(f"{place} {NO_CLUSTER} ({said})")
    if isinstance(error, library().ResponseError) and not signs & _FOR_NOW:
        return StoreError(f"{place} answers with an error: {said}")
    return StoreUnavailable(f"{place} does not answer: {said}")


def _commands_denied(said: str, name: str) -> str:
    """Return the commands in the line of the script *name* that the user may not run; empty for another error."""
    denied = _IN_SCRIPT.search(said) if name.islower() else None
    if denied is None:
        return ""
    # The number of its line is all that the server tells.
    lines = script(name).source.splitlines()[int(denied[1]) - 1 :][:1]
    commands = _CALLED.findall("".join(lines))
    return " or ".join(dict.fromkeys(commands)) or f"a command that the script {name}.lua calls"
