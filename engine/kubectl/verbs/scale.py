"""`scale`: set the number of replicas through the scale subresource.

Source of the behaviour: kubectl pkg/cmd/scale/scale.go and pkg/scale/scale.go.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from engine.api.types import Object
from engine.api.wire import MERGE_PATCH
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, of
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL, DRY_RUN, PRINT, SELECTOR, filename
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.selection import Info, Selection, collect, visit
from engine.kubectl.session import Session
from engine.kubectl.verbs.watching import follow


async def run(session: Session) -> None:
    flags = session.flags
    replicas = flags.number("replicas")
    if replicas < 0:
        raise CommandError("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
    if flags.number("current-replicas") < -1:
        raise CommandError("The --current-replicas must specify an integer of -1 or greater")
    dry_run = session.dry_run()
    printer = result_printer(session, "scaled", dry_run=dry_run)
    scaled: list[Info] = []

    async def scale(info: Info) -> None:
        if dry_run == "client":
            info.object = {**info.object, "spec": {**(info.object.get("spec") or {}), "replicas": replicas}}
        else:
            await _scale(session, info, replicas, dry_run)
        scaled.append(info)
        printer(info.object, info.resource)

    selection = Selection.of_flags(session)
    selection.fetch = not session.from_files  # a manifest is taken as it stands
    if not await (_of_manifests(session, selection, scale) if session.from_files else visit(session, selection, scale)):
        raise CommandError("no objects passed to scale")
    if dry_run == "none" and (timeout := flags.seconds("timeout")):
        for info in scaled:
            await _wait(session, info, replicas, timeout)


async def _of_manifests(session: Session, selection: Selection, scale: Callable[[Info], Awaitable[None]]) -> int:
    """Scale what could be read, up to the first that cannot be scaled; then tell of what could not be read."""
    found, errors = await collect(session, selection)
    for info in found:
        await scale(info)
    if errors:
        raise of(errors)
    return len(found)


async def _scale(session: Session, info: Info, replicas: int, dry_run: str) -> None:
    expected, version = session.flags.number("current-replicas"), session.flags.text("resource-version")
    query = {"dryRun": "All" if dry_run == "server" else ""}
    path = session.path_of(info.resource, info.namespace, info.name, "scale")
    if expected == -1 and not version:
        await session.request(
            "PATCH",
            path,
            query=query,
            body={"spec": {"replicas": replicas}},
            headers={"content-type": MERGE_PATCH},
        )
        return
    current: Object = await session.request("GET", path)
    actual = (current.get("spec") or {}).get("replicas", 0)
    if expected not in (-1, actual):
        raise CommandError(f"Expected replicas to be {expected}, was {actual}")
    if version and version != current["metadata"]["resourceVersion"]:
        raise CommandError(f"Expected resource version to be {version}, was {current['metadata']['resourceVersion']}")
    await session.request("PUT", path, query=query, body={**current, "spec": {"replicas": replicas}})


async def _wait(session: Session, info: Info, replicas: int, timeout: float) -> None:
    try:
        async with session.clock.timeout(timeout):
            async for kind, obj in follow(session, info.resource, info.namespace, info.name):
                if kind != "DELETED" and _has(obj, replicas):
                    return
    except TimeoutError as error:
        raise CommandError("timed out waiting for the condition") from error


def _has(obj: Object, replicas: int) -> bool:
    status = obj.get("status") or {}
    seen = int(status.get("observedGeneration") or 0) >= int(obj["metadata"].get("generation") or 0)
    return seen and int(status.get("replicas") or 0) == replicas


COMMAND = Command(
    name="scale",
    short="Set a new size for a deployment, replica set, or replication controller",
    usage="[--resource-version=version] [--current-replicas=count] --replicas=COUNT (-f FILENAME | TYPE NAME)",
    run=run,
    flags=(
        *filename(),
        *PRINT,
        *SELECTOR,
        *ALL,
        *DRY_RUN,
        Flag("current-replicas", Type.INT, default=-1, help="Only if this many replicas are wanted now."),
        Flag("replicas", Type.INT, required=True, help="How many replicas."),
        Flag("resource-version", help="Only if the object has this resourceVersion."),
        Flag("timeout", Type.DURATION, help="How long to wait for the replicas; 0 does not wait."),
    ),
    examples=("scale --replicas=5 deployment/web",),
)
