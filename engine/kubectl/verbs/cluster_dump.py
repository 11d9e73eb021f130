"""`cluster-info dump`: nodes, and of some namespaces events, workloads, Pods and their logs, for a look at them later.

Source of the behaviour: kubectl pkg/cmd/clusterinfo/clusterinfo_dump.go.
"""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL_NAMESPACES, PRINT
from engine.kubectl.printers.objects import structured_printer, unknown_format, without_managed_fields
from engine.kubectl.session import Session

SYSTEM = "kube-system"
# What is dumped of a namespace, in order, and the name of its file.
KINDS = {
    "events": "events",
    "replicationcontrollers": "replication-controllers",
    "services": "services",
    "daemonsets.apps": "daemonsets",
    "deployments.apps": "deployments",
    "replicasets.apps": "replicasets",
    "pods": "pods",
}
_EXTENSIONS = {"json": ".json", "yaml": ".yaml", "kyaml": ".yaml"}


async def run(session: Session) -> None:
    dump = _Dump(session)
    await dump.objects("nodes", "", "nodes")
    for namespace in await _namespaces(session):
        for word, file in KINDS.items():
            listed = await dump.objects(word, namespace, f"{namespace}/{file}")
        for pod in listed:
            await dump.logs(pod)
    if dump.folder is not None:
        session.out(f"Cluster info dumped to {dump.folder}")


async def _namespaces(session: Session) -> list[str]:
    if session.flags.on("all-namespaces"):
        listed = await session.list(await session.resolve("namespaces"))
        return [namespace["metadata"]["name"] for namespace in listed]
    return session.flags.many("namespaces") or [SYSTEM, session.namespace]


def _make_folder(path: Path) -> None:
    """With those above it, for nobody else to read: logs have secrets in them. What is there stays as it is."""
    if not path.is_dir():
        _make_folder(path.parent)
        try:
            path.mkdir(mode=0o700, exist_ok=True)
        except FileExistsError as error:
            raise CommandError(f"mkdir {path}: not a directory") from error
        except OSError as error:
            raise CommandError(f"mkdir {path}: {(error.strerror or '').lower()}") from error


class _Dump:
    """Where all of it goes: stdout, or a file for each list and each Pod below a folder."""

    def __init__(self, session: Session) -> None:
        folder = session.flags.text("output-directory")
        self.folder = Path(folder) if folder not in ("", "-") else None
        self._session = session
        self._shown = io.StringIO()
        format_ = session.flags.text("output")
        printer = structured_printer(replace(session, stdout=self._shown), typed=True)
        if printer is None and format_ != "name":
            raise unknown_format(format_)
        self._printer = printer
        self._extension = _EXTENSIONS.get(format_, ".txt")

    def _write(self, file: str, text: str) -> None:
        if self.folder is None:
            self._session.stdout.write(text)
            return
        path = self.folder / file
        _make_folder(path.parent)
        with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as out:
            out.write(text)

    async def objects(self, word: str, namespace: str, file: str) -> list[Object]:
        """All objects of a resource, printed as the list that the server gives. Raises CommandError."""
        session = self._session
        resource = await session.resolve(word)
        body = await session.request("GET", session.path_of(resource, namespace))
        if self._printer is None:
            kind = f"*{resource.gvr.version}.{body['kind']}"
            raise CommandError(f"list types are not supported by name printing: {kind}")
        items: list[Object] = body.get("items") or []
        if not session.flags.on("show-managed-fields"):
            body = without_managed_fields(body)
        body = {**body, "items": body.get("items") or None}  # Go's typed lists of nothing are nil
        self._shown.seek(0)
        self._shown.truncate()
        self._printer(body)
        self._write(f"{file}{self._extension}", self._shown.getvalue())
        return items

    async def logs(self, pod: Object) -> None:
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        path = self._session.path_of(await self._session.resolve("pods"), namespace, name, "log")
        spec, text = pod["spec"], ""
        for container in [*(spec.get("initContainers") or ()), *spec["containers"]]:
            where = f"logs for container {container['name']} of pod {namespace}/{name} ====\n"
            log = await self._log(path, container["name"])
            text += f"==== START {where}{log}==== END {where}"
        self._write(f"{namespace}/{name}/logs.txt", text)

    async def _log(self, path: str, container: str) -> str:
        try:
            body = (await self._session.send("GET", path, query={"container": container})).body
        except ApiError as error:
            return f"Request log error: {error.message}\n"
        return body.decode(errors="replace") if isinstance(body, bytes) else str(body or "")


DUMP = Command(
    name="dump",
    short="Dump relevant information for debugging and diagnosis",
    usage="[flags]",
    run=run,
    flags=(
        *ALL_NAMESPACES,
        *(flag for flag in PRINT if flag.name != "output"),
        Flag("output", default="json", short="o", help="Output format: json, yaml, jsonpath, ..."),
        Flag("namespaces", Type.STRINGS, help="The namespaces to dump; by default kube-system and the current one."),
        Flag("output-directory", help="The folder for the files; empty or - for stdout."),
        Flag("pod-running-timeout", Type.DURATION, default=20.0, help="How long to wait for a running Pod."),
    ),
    examples=("cluster-info dump", "cluster-info dump --output-directory=/tmp/state -A"),
)
