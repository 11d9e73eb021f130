"""`rollout pause`, `resume` and `restart`: change a workload's spec so that its rollout halts, goes on or begins anew.

Source of the behaviour: kubectl pkg/cmd/rollout and pkg/polymorphichelpers (objectpauser.go, objectrestarter.go).
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.api.wire import STRATEGIC_PATCH
from engine.kubectl.errors import Aggregate, CommandError, of
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.scheme import UnregisteredError
from engine.kubectl.selection import Info, collect
from engine.kubectl.session import Session
from engine.kubectl.verbs.rollout.common import nothing_found, selected

RESTARTED = "kubectl.kubernetes.io/restartedAt"
Patch = Callable[[Session, Info], Object]


async def pause(session: Session) -> None:
    await _change(session, _pausing, "paused")


async def resume(session: Session) -> None:
    await _change(session, _resuming, "resumed")


async def restart(session: Session) -> None:
    await _change(session, _restarting, "restarted")


async def _change(session: Session, patch_of: Patch, done: str) -> None:
    async def change(info: Info) -> None:
        patch = patch_of(session, info)
        manager = session.flags.text("field-manager")
        info.refresh(
            await session.patch(info.resource, info.name, info.namespace, patch, STRATEGIC_PATCH, fieldManager=manager)
        )
        result_printer(session, done, typed=True)(info.object, info.resource)

    try:
        found, unread = await collect(session, selected(session))
    except UnregisteredError as error:
        if not error.of_list:
            raise
        found, unread = [], [Aggregate([error])]
    whole = bool(unread) and session.from_files  # what is wrong with a file is one failure among others
    errors: list[Exception] = [Aggregate(unread)] if whole else list(unread)
    for info in found:
        try:
            await change(info)
        except (ApiError, CommandError) as error:
            errors.append(error)
    if errors:
        raise of(errors)
    nothing_found(session, len(found))


def _failure(info: Info, why: str) -> CommandError:
    return CommandError(f'error: {info.resource.gvr.group_resource} "{info.name}" {why}')


def _pausing(session: Session, info: Info) -> Object:
    if info.resource.kind != "Deployment":
        raise _failure(info, "pausing is not supported")
    if info.object["spec"].get("paused"):
        raise _failure(info, "is already paused")
    return {"spec": {"paused": True}}


def _resuming(session: Session, info: Info) -> Object:
    if info.resource.kind != "Deployment":
        raise _failure(info, "resuming is not supported")
    if not info.object["spec"].get("paused"):
        raise _failure(info, "is not paused")
    return {"spec": {"paused": None}}


def _restarting(session: Session, info: Info) -> Object:
    if info.resource.kind not in ("Deployment", "DaemonSet", "StatefulSet"):
        raise _failure(info, "restarting is not supported")
    if info.object["spec"].get("paused"):
        raise _failure(info, "can't restart paused deployment (run rollout resume first)")
    now = session.clock.timestamp()
    annotations = (info.object["spec"]["template"].get("metadata") or {}).get("annotations") or {}
    if annotations.get(RESTARTED) == now:
        raise CommandError(
            f"failed to create patch for {info.name}: if restart has already been triggered within the past second, "
            "please wait before attempting to trigger another"
        )
    return {"spec": {"template": {"metadata": {"annotations": {RESTARTED: now}}}}}
