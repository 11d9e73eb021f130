"""What `run --attach`, `-i` and `--rm` add to a Pod that was made: its streams, its exit code, its removal.

Source of the behaviour: kubectl pkg/cmd/run/run.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.kubectl.attaching import attach_when_running
from engine.kubectl.deletion import delete, propagation, uid_of, wait_gone
from engine.kubectl.errors import CommandError, Exit
from engine.kubectl.selection import Info
from engine.kubectl.session import Session
from engine.kubectl.verbs.watching import follow


async def attend(session: Session, made: Sequence[Info]) -> None:
    """Carry the streams of the Pod that comes first in `made`; afterwards remove all of it where that was asked.
    Raises Exit with the container's exit code, CommandError."""
    try:
        await _attend(session, made[0].object)
    finally:
        if session.flags.on("rm"):
            for info in made:
                await _remove(session, info)


async def _attend(session: Session, pod: Object) -> None:
    try:
        async with session.clock.timeout(session.flags.seconds("pod-running-timeout")):
            await _until(session, pod, ("Running", "Succeeded", "Failed"))
    except TimeoutError as error:
        raise CommandError("timed out waiting for the condition") from error
    await attach_when_running(session, pod, pod["spec"]["containers"][0]["name"])
    if not session.flags.on("leave-stdin-open") and pod["spec"]["restartPolicy"] != "Always":
        _judge(session, await _until(session, pod, ("Succeeded", "Failed")))


async def _until(session: Session, pod: Object, phases: Sequence[str]) -> Object:
    """The Pod once it is in one of the phases. Raises CommandError when it goes away before."""
    pods = await session.resolve("pods")
    metadata = pod["metadata"]
    async for kind, live in follow(session, pods, metadata["namespace"], metadata["name"]):
        if kind == "DELETED":
            raise ApiError(404, "NotFound", f'pods "{metadata["name"]}" not found')
        if (live.get("status") or {}).get("phase") in phases:
            return live
    raise CommandError("the watch of the Pod has ended")


def _judge(session: Session, pod: Object) -> None:
    """What the end of the Pod means for the exit code. Raises Exit, CommandError."""
    if pod["status"]["phase"] == "Succeeded":
        return
    name = f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']}"
    statuses = pod["status"].get("containerStatuses") or [{}]
    ended = (statuses[0].get("state") or {}).get("terminated") or {}
    if not ended.get("exitCode"):
        raise CommandError(f"{name} failed with unknown exit code")
    session.err(f"{name} terminated ({ended.get('reason', '')})\n{ended.get('message', '')}".rstrip("\n"))
    raise Exit(int(ended["exitCode"]))


async def _remove(session: Session, info: Info) -> None:
    flags = session.flags
    grace = flags.number("grace-period")
    answer = await delete(session, info, grace=grace, policy=propagation(session))
    if not flags.on("quiet"):
        kind = info.resource.kind.lower()
        session.out(f'{kind} "{info.name}" deleted from {info.namespace} namespace')
    if flags.on("wait"):
        await wait_gone(session, info, uid_of(answer))
