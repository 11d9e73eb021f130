"""Deleting an object and waiting until it is gone, finalizers and all.

Source of the behaviour: kubectl pkg/cmd/delete/delete.go and pkg/cmd/wait/delete.go.
"""

from __future__ import annotations

from typing import Any

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.kubectl.errors import CommandError
from engine.kubectl.selection import Info
from engine.kubectl.session import Session
from engine.kubectl.verbs.watching import RETRY_SECONDS, follow

FOREVER = 168 * 3600.0  # kubectl waits a week at most
POLICIES = {"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}


def propagation(session: Session) -> str:
    """The propagation policy of `--cascade`. Raises CommandError."""
    word = session.flags.text("cascade")
    if word in ("true", "false"):
        now = "background" if word == "true" else "orphan"
        session.err(
            f"warning: --cascade={word} is deprecated (boolean value) and can be replaced with --cascade={now}."
        )
        return POLICIES[now]
    if word not in POLICIES:
        raise CommandError(f'invalid cascade value ({word}). Must be "background", "foreground", or "orphan"')
    return POLICIES[word]


async def delete(
    session: Session, info: Info, *, grace: int = -1, policy: str = "Background", dry_run: bool = False
) -> Object:
    """Ask for an object's deletion; the answer is the object (which may live on for a while) or a Status."""
    options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy}
    if grace >= 0:
        options["gracePeriodSeconds"] = grace
    if dry_run:
        options["dryRun"] = ["All"]
    path = session.path_of(info.resource, info.namespace, info.name)
    answer: Object = await session.request("DELETE", path, body=options)
    return answer


def uid_of(answer: Object) -> str:
    """The uid of what is being deleted, from the object or from the details of a Status."""
    if answer.get("kind") == "Status":
        return str((answer.get("details") or {}).get("uid", ""))
    return str(answer.get("metadata", {}).get("uid", ""))


async def wait_gone(session: Session, info: Info, uid: str, *, timeout: float = FOREVER) -> None:
    """Wait until the object with this uid is no more. Raises CommandError when it takes too long."""
    try:
        async with session.clock.timeout(timeout):
            await _wait_gone(session, info, uid)
    except TimeoutError as error:
        name = f"{info.resource.plural}/{info.name}"
        raise CommandError(f"timed out waiting for the condition on {name}") from error


async def _wait_gone(session: Session, info: Info, uid: str) -> None:
    try:
        async for kind, live in follow(session, info.resource, info.namespace, info.name):
            if kind == "DELETED" or (uid and live["metadata"].get("uid") != uid):
                return
    except ApiError as error:
        if error.reason != "NotFound":  # the kind itself has gone, and with it all of its objects
            raise


async def delete_unwatched(session: Session, info: Info, *, policy: str) -> None:
    """Delete an object and ask each second whether it is gone, for `--timeout`: by default but once, as upstream does.

    Says nothing of it. Raises CommandError where it is still there (apply's patcher, deleteAndCreate).
    """
    await delete(session, info, grace=session.flags.number("grace-period"), policy=policy)
    end = session.clock.monotonic() + session.flags.seconds("timeout")
    while await is_there(session, info):
        if session.clock.monotonic() >= end:
            raise CommandError("context deadline exceeded")
        await session.clock.sleep(min(RETRY_SECONDS, end - session.clock.monotonic()))


async def is_there(session: Session, info: Info) -> bool:
    try:
        await session.get(info.resource, info.name, info.namespace)
    except ApiError as error:
        if error.reason == "NotFound":
            return False
        raise
    return True


def report(session: Session, info: Info, *, forced: bool = False, dry_run: str = "none") -> None:
    """Say that an object is deleted, in the words of `delete`."""
    kind = info.resource.kind.lower()
    if info.resource.gvr.group:
        kind = f"{kind}.{info.resource.gvr.group}"
    if session.flags.text("output") == "name":
        session.out(f"{kind}/{info.name}")
        return
    operation = "force deleted" if forced else "deleted"
    where = f" from {info.namespace} namespace" if info.resource.namespaced else ""
    suffix = {"client": " (dry run)", "server": " (server dry run)"}.get(dry_run, "")
    session.out(f'{kind} "{info.name}" {operation}{where}{suffix}')
