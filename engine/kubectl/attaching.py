"""Talking to a container as soon as there is one to talk to: `run`, `debug`.

Source of the behaviour: kubectl pkg/cmd/run/run.go (handleAttachPod) and pkg/cmd/debug/debug.go.
"""

from __future__ import annotations

import asyncio

from engine.api.types import Object
from engine.kubectl.errors import CommandError, InterruptedWaiting
from engine.kubectl.session import Session
from engine.kubectl.verbs.exec import attach_to
from engine.kubectl.verbs.watching import follow


async def attach_when_running(session: Session, pod: Object, container: str) -> None:
    """Wait until the container runs, then carry its streams; print its log where it has ended before that."""
    try:
        live = await _started(session, pod, container)
    except asyncio.CancelledError as ended:
        raise InterruptedWaiting from ended
    if "running" in state_of(live, container):
        await attach_to(session, live, container)
    else:
        await print_log(session, live, container)


async def _started(session: Session, pod: Object, container: str) -> Object:
    """The Pod once the container has been started; why it is not is told of each time it is said."""
    pods = await session.resolve("pods")
    metadata = pod["metadata"]
    async for _, live in follow(session, pods, metadata["namespace"], metadata["name"]):
        state = state_of(live, container)
        if "running" in state or "terminated" in state:
            return live
        why = (state.get("waiting") or {}).get("message")
        if why and not session.flags.on("quiet"):
            session.err(f"Warning: container {container}: {why}")
    raise CommandError("the watch of the Pod has ended")


async def print_log(session: Session, pod: Object, container: str) -> None:
    """What a container has written that has ended already."""
    metadata = pod["metadata"]
    path = session.path_of(await session.resolve("pods"), metadata["namespace"], metadata["name"], "log")
    log = await session.request("GET", path, query={"container": container})
    session.stdout.write(log.decode(errors="replace") if isinstance(log, bytes) else str(log or ""))


def state_of(pod: Object, container: str) -> Object:
    """The state of a container of any kind; empty where there is none yet."""
    status = pod.get("status") or {}
    for key in ("containerStatuses", "ephemeralContainerStatuses", "initContainerStatuses"):
        for one in status.get(key) or ():
            if one["name"] == container:
                return one.get("state") or {}
    return {}
