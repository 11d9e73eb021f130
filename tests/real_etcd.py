"""A real etcd of a test's own, on loopback: Debian's etcd-server. Where there is none, what needs it is deselected
(tests/conftest.py says so once); `.ci/run` installs it, so that CI runs everything.
"""

from __future__ import annotations

import os
import platform
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path
from urllib.request import urlopen

ETCD = shutil.which("etcd")
ETCDCTL = shutil.which("etcdctl")
START_SECONDS = 30.0
# Debian's etcd 3.4 starts on 64-bit ARM only if it is told to.
_UNSUPPORTED = {"ETCD_UNSUPPORTED_ARCH": "arm64"} if platform.machine() == "aarch64" else {}
# Memory where there is some: what these tests are about is not how fast a disk syncs.
_FAST = Path("/dev/shm")


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class RealEtcd:
    """One member, started at once; `stop` it in the end. After `kill` or `stop`, `start` takes up the same data."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ktui-etcd-", dir=_FAST if os.access(_FAST, os.W_OK) else None))
        self.endpoint = f"http://127.0.0.1:{free_port()}"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        assert ETCD is not None, "there is no etcd"
        command = [
            ETCD,
            f"--data-dir={self.folder / 'data'}",
            f"--listen-client-urls={self.endpoint}",
            f"--advertise-client-urls={self.endpoint}",
            "--listen-peer-urls=http://127.0.0.1:0",
            # A single member need not wait long to elect itself. The two-second minimum of leases hangs on these.
            "--heartbeat-interval=100",
            "--election-timeout=1000",
            "--log-level=error",
        ]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **_UNSUPPORTED})
        deadline = time.monotonic() + START_SECONDS
        while not self._healthy():
            assert self._process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, "etcd does not become healthy"
            time.sleep(0.02)

    def _healthy(self) -> bool:
        try:
            with urlopen(f"{self.endpoint}/health", timeout=1) as answer:
                return b'"true"' in answer.read()
        except OSError:
            return False

    def kill(self) -> None:
        """kill -9."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        self._end(signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)

    def etcdctl(self, *words: str) -> str:
        """What the real etcdctl prints."""
        assert ETCDCTL is not None, "there is no etcdctl"
        environment = {**os.environ, "ETCDCTL_API": "3"}
        command = [ETCDCTL, f"--endpoints={self.endpoint}", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
        return done.stdout
