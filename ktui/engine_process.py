"""The engine as a child process: how `ktui up --detach` and the screen start one (design, section 7)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from engine.folder import Running
from ktui.server_flags import ServerFlags


class StartError(Exception):
    """The engine did not come up; the message is what it said."""


@dataclass(frozen=True, slots=True)
class UpOptions(ServerFlags):
    """The options of `ktui up`."""

    name: str = "default"
    nodes: int = 3
    profile: str = "instant"
    port: int | None = None
    components: str = "all"
    kubernetes_version: str = ""
    seed: str | None = None
    ephemeral: bool = False
    scheduler_config: str = ""
    watch_cache_sizes: str = ""
    store: str = "sqlite"
    etcd_endpoints: str = ""
    etcd_cafile: str = ""
    etcd_certfile: str = ""
    etcd_keyfile: str = ""
    etcd_members: int = 1
    auto_compaction_retention: str = "4h"
    auto_compaction_revisions: int = 10_000
    quota_backend_bytes: int = 2 << 30

    def arguments(self) -> list[str]:
        """The options as a command line."""
        words = [f"--name={self.name}", f"--nodes={self.nodes}", f"--profile={self.profile}"]
        words.append(f"--components={self.components}")
        if self.port is not None:
            words.append(f"--port={self.port}")
        if self.kubernetes_version:
            words.append(f"--kubernetes-version={self.kubernetes_version}")
        if self.seed is not None:
            words.append(f"--seed={self.seed}")
        if self.ephemeral:
            words.append("--ephemeral")
        if self.scheduler_config:
            words.append(f"--scheduler-config={self.scheduler_config}")
        if self.watch_cache_sizes:
            words.append(f"--watch-cache-sizes={self.watch_cache_sizes}")
        words += self.flags_given()
        files = {"cafile": self.etcd_cafile, "certfile": self.etcd_certfile, "keyfile": self.etcd_keyfile}
        given = {"endpoints": self.etcd_endpoints, **files}
        words += [f"--etcd-{option}={value}" for option, value in given.items() if value]
        words += [f"--store={self.store}", f"--etcd-members={self.etcd_members}"]
        words.append(f"--auto-compaction-retention={self.auto_compaction_retention}")
        words.append(f"--auto-compaction-revisions={self.auto_compaction_revisions}")
        words.append(f"--quota-backend-bytes={self.quota_backend_bytes}")
        return words


def spawn(arguments: Sequence[str]) -> Running:
    """Start an engine with these options; it outlives this process. Returns once its API answers. Raises StartError."""
    command = [sys.executable, "-m", "ktui", "up", "--announce", *arguments]
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    with child.stdout, child.stderr:
        announced = child.stdout.readline()  # the engine leaves both pipes once it has announced itself
        said = child.stderr.read()
    try:
        running = Running.model_validate_json(announced)
    except ValidationError:
        child.wait()
        notes, why = _parted(said)
        sys.stderr.write(notes)
        raise StartError(why or f"the engine ended with exit code {child.returncode}") from None
    child.returncode = 0  # it is on its own now: no warning that it is still running
    if said:
        sys.stderr.write(said)
    return running


def _parted(said: str) -> tuple[str, str]:
    """What the engine told on its way, in whole lines, and the error that it ended with; all of it where none is
    named as one."""
    lines = said.splitlines(keepends=True)
    at = next((number for number, line in enumerate(lines) if line.startswith("error: ")), 0)
    return "".join(lines[:at]), "".join(lines[at:]).strip().removeprefix("error: ")
