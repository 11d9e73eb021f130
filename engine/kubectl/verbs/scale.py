"""`scale`: set the number of replicas through the scale subresource.

Source of the behaviour: kubectl pkg/cmd/scale/scale.go and pkg/scale/scale.go.
"""

from __future__ import annotations

from engine.api.golang.text import quoted
from engine.api.types import Object
from engine.api.wire import MERGE_PATCH
from engine.kubectl.change_cause import RECORD, record_patch
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, of
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL, DRY_RUN, PRINT, SELECTOR, filename
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.selection import Info, Selection, collect
from engine.kubectl.session import Session
from engine.kubectl.verbs.watching import RETRY_SECONDS


async def run(session: Session) -> None:
    flags = session.flags
    dry_run = session.dry_run()
    printer = result_printer(session, "scaled", dry_run=dry_run)
    replicas = flags.number("replicas")
    if replicas < 0:
        raise CommandError("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
    if flags.number("current-replicas") < -1:
        raise CommandError("The --current-replicas must specify an integer of -1 or greater")

    async def scale(info: Info) -> None:
        if dry_run == "client":
            info.object = {**info.object, "spec": {**(info.object.get("spec") or {}), "replicas": replicas}}
        else:
            await _scale(session, info, replicas, dry_run)
        if dry_run == "none" and (timeout := flags.seconds("timeout")):
            await _wait(session, info, replicas, timeout)
        if dry_run != "client" and (cause := record_patch(session)) is not None:
            await session.patch(
                info.resource,
                info.name,
                info.namespace,
                cause,
                MERGE_PATCH,
                dryRun="All" if dry_run == "server" else None,
            )
        printer(info.object, info.resource)

    selection = Selection.of_flags(session)
    selection.fetch = not session.from_files  # a manifest is taken as it stands
    found, errors = await collect(session, selection)
    for info in found:  # up to the first that cannot be scaled; what was not found is told after them
        await scale(info)
    if errors:
        raise of(errors)
    if not found:
        raise CommandError("no objects passed to scale")


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
    """Ask each second how many replicas there are. Another number that is wanted meanwhile ends the wait too."""
    try:
        async with session.clock.timeout(timeout):
            while True:
                scale = await session.get(info.resource, info.name, info.namespace, subresource="scale")
                wanted = (scale.get("spec") or {}).get("replicas", 0)
                if wanted != replicas or (scale.get("status") or {}).get("replicas", 0) == wanted:
                    return
                await session.clock.sleep(RETRY_SECONDS)
    except TimeoutError as error:
        raise CommandError(f"timed out waiting for {quoted(info.name)} to be synced") from error


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
        *RECORD,
        Flag("current-replicas", Type.INT, default=-1, help="Only if this many replicas are wanted now."),
        Flag("replicas", Type.INT, required=True, help="How many replicas."),
        Flag("resource-version", help="Only if the object has this resourceVersion."),
        Flag("timeout", Type.DURATION, help="How long to wait for the replicas; 0 does not wait."),
    ),
    examples=("scale --replicas=5 deployment/web",),
)
