"""What a server can do, kept on disk for ten minutes, in the files in which kubectl keeps it (hop 01).

CACHE/discovery/HOST_PORT/servergroups.json                      an APIGroupList
CACHE/discovery/HOST_PORT/GROUP/VERSION/serverresources.json     an APIResourceList

CACHE is `--cache-dir`, KUBECACHEDIR or `~/.kube/cache`. A file's age is that of its last change; a folder that cannot
be written is no failure.

Source of the behaviour: client-go discovery/cached/disk and cli-runtime config_flags.go (computeDiscoverCacheDir).
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path

import orjson

from engine.api.types import Object
from engine.clock import Clock
from engine.kubectl.discovery import Documents

LIFE_SECONDS = 600.0
_UNSAFE = re.compile(r"[^(\w/.)]")


def folder(server: str, *, given: str, environment: Mapping[str, str]) -> Path | None:
    """Where the documents of a server are; None where there is no home for them."""
    home = environment.get("HOME", "")
    root = given or environment.get("KUBECACHEDIR", "") or (f"{home}/.kube/cache" if home else "")
    if not root:
        return None
    host = server.replace("https://", "", 1).replace("http://", "", 1)
    return Path(root) / "discovery" / _UNSAFE.sub("_", host).strip("/")


class DiskCache:
    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock

    async def load(self) -> Documents | None:
        """What is kept; None where a file is missing, too old or broken."""
        return await asyncio.to_thread(self._load, self._clock.now().timestamp())

    async def store(self, documents: Documents) -> None:
        await asyncio.to_thread(self._store, documents)

    def _load(self, now: float) -> Documents | None:
        listed = _read(self._path / "servergroups.json", now)
        if listed is None:
            return None
        documents = Documents(groups=listed.get("groups") or [])
        for group in documents.groups:
            for version in group.get("versions") or ():
                name = str(version.get("groupVersion", ""))
                resources = _read(self._path / name / "serverresources.json", now)
                if resources is None:
                    return None
                documents.lists[name] = resources
        return documents

    def _store(self, documents: Documents) -> None:
        try:
            for name, resources in documents.lists.items():
                _write(self._path / name / "serverresources.json", resources)
            groups = {"kind": "APIGroupList", "apiVersion": "v1", "groups": documents.groups}
            _write(self._path / "servergroups.json", groups)
        except OSError:
            return


def _read(file: Path, now: float) -> Object | None:
    try:
        if now - file.stat().st_mtime > LIFE_SECONDS:
            return None
        value = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    return value if isinstance(value, dict) else None


def _write(file: Path, value: Object) -> None:
    """Whole or not at all: another command may be reading."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    beside.write_bytes(orjson.dumps(value))
    beside.chmod(0o660)
    beside.replace(file)
