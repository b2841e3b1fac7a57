"""The page "when one machine is not enough": a server takes the configuration that it shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("redis", reason="redis is not installed")
from tests.docs.reader import DOCS
from tests.store.server import RedisServer

PAGE = (DOCS / "how-to" / "beyond-one-machine.rst").read_text("utf-8")


def test_the_nodes_take_the_configuration_of_the_page(tmp_path: Path) -> None:
    lines = re.search(r":caption: of redis.conf\n\n((?: +\S.*\n)+)", PAGE)
    assert lines is not None
    options: dict[str, Any] = dict(line.split() for line in lines[1].splitlines())
    with RedisServer(tmp_path, **{name.replace("-", "_"): value for name, value in options.items()}):
        pass
