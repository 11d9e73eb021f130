"""What `run --attach`, `-i` and `--rm` add to a Pod that was made: its streams, its exit code, its removal.

Source of the behaviour: kubectl pkg/cmd/run/run.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from engine.api.errors import not_found
from engine.api.tables.formats import condition_true
from engine.api.types import PODS, Object
from engine.kubectl.attaching import print_log
from engine.kubectl.deletion import delete, propagation, uid_of, wait_gone
from engine.kubectl.errors import CommandError, Exit, InterruptedWaiting
from engine.kubectl.selection import Info
from engine.kubectl.session import Session
from engine.kubectl.verbs.exec import attach_to
from engine.kubectl.verbs.watching import follow


async def attend(session: Session, made: Sequence[Info]) -> None:
    """Carry the streams of the Pod that comes first in `made`; afterwards remove all of it where that was asked, but
    not where kubectl is ended from outside. Raises Exit with the container's exit code, CommandError."""
    failure: Exception | None = None
    try:
        await _attend(session, made[0].object)
    except Exception as error:
        failure = error
    if session.flags.on("rm"):
        for info in made:
            await _remove(session, info)
    if failure is not None:
        raise failure


async def _attend(session: Session, pod: Object) -> None:
    policy, container = pod["spec"]["restartPolicy"], pod["spec"]["containers"][0]["name"]
    live = await _until(session, pod, _ready_or_ended)
    if _ended(live):
        await print_log(session, live, container)
    else:
        await attach_to(session, live, container)
    if not session.flags.on("leave-stdin-open") and policy != "Always":
        _judge(session, await _until(session, pod, _succeeded if policy == "OnFailure" else _ended))


def _ended(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _succeeded(pod: Object) -> bool:
    return bool((pod.get("status") or {}).get("phase") == "Succeeded")


def _ready_or_ended(pod: Object) -> bool:
    status = pod.get("status") or {}
    return _ended(pod) or (status.get("phase") == "Running" and condition_true(status, "Ready"))


async def _until(session: Session, pod: Object, test: Callable[[Object], bool]) -> Object:
    """The Pod once it passes the test, for which each time there is --pod-running-timeout. Raises CommandError when it
    takes longer, ApiError when the Pod goes away before."""
    try:
        async with session.clock.timeout(session.flags.seconds("pod-running-timeout")):
            return await _passing(session, pod, test)
    except TimeoutError as error:
        raise CommandError("timed out waiting for the condition") from error
    except asyncio.CancelledError as ended:
        raise InterruptedWaiting from ended


async def _passing(session: Session, pod: Object, test: Callable[[Object], bool]) -> Object:
    pods = await session.resolve("pods")
    metadata = pod["metadata"]
    async for kind, live in follow(session, pods, metadata["namespace"], metadata["name"]):
        if kind == "DELETED":
            raise not_found(PODS, "")
        if test(live):
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
