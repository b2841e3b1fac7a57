"""Run a real Redis server on the loopback interface, in its own folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

# The programs in benchmarks/, and processes that tests start, also need this path.
sys.path.append(str(Path(__file__).parents[2] / "example_project"))

from local_redis import free_port, server_program

#: Max seconds to wait for the server to start.
PATIENCE = 20


class RedisServer:
    """One server process with an append-only file, so that its data survives a kill.

    With ``appendfsync="always"`` no acknowledged write is lost. *options* are lines of its configuration,
    with underscores for hyphens: ``maxmemory="1mb"``.
    """

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder = folder
        self._log = folder / "log"
        self._options = {"bind": "127.0.0.1", "dir": folder, "appendonly": "yes", "save": "''", **options}
        self._listen_at(free_port())
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> RedisServer:
        while True:
            try:
                self.start()
            except RuntimeError as error:
                if "Address already in use" not in str(error):
                    raise
                # Another process took the port. A restarted server must keep its port, so try others only
                # here.
                self._listen_at(free_port())
            else:
                return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def start(self) -> None:
        """Start the process, and wait until it has loaded its data and listens."""
        config = self.folder / "redis.conf"
        lines = [f"{name.replace('_', '-')} {value}\n" for name, value in self._options.items()]
        config.write_text("".join(lines), "utf-8")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen([server_program(), str(config)], stdout=log, stderr=log)
        end = time.monotonic() + PATIENCE
        # Check its log, because the port may belong to another server.
        while "Ready to accept connections" not in self._log.read_text("utf-8"):
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server did not start: {self._log.read_text('utf-8')}")
            time.sleep(0.01)

    def kill(self) -> None:
        """End the process as a power cut would."""
        if self._process is not None:
            self.resume()
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def back_up(self, folder: Path) -> None:
        """Copy the data files to *folder* while the process is down."""
        self.kill()
        folder.mkdir()
        for part in self._kept():
            (shutil.copytree if part.is_dir() else shutil.copyfile)(part, folder / part.name)
        self.start()

    def lose(self, backup: Path | None = None) -> None:
        """Crash, and come back without data, or with the data in *backup*."""
        self.kill()
        for part in self._kept():
            (shutil.rmtree if part.is_dir() else Path.unlink)(part)
        if backup is not None:
            shutil.copytree(backup, self.folder, dirs_exist_ok=True)
        self.start()

    def _listen_at(self, port: int) -> None:
        self.port = port
        self._options["port"] = port

    def _kept(self) -> list[Path]:
        # A file up to Redis 6, a folder since 7.
        return list(self.folder.glob("appendonly*"))
