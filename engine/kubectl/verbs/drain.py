"""`cordon`, `uncordon` and `drain`: take nodes out of service and back.

Source of the behaviour: kubectl pkg/cmd/drain and pkg/drain (drain.go, filters.go, cordon.go).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from engine.api.types import Object
from engine.api.wire import STRATEGIC_PATCH
from engine.kubectl.command import Command, Run
from engine.kubectl.deletion import FOREVER, delete, is_there, wait_gone
from engine.kubectl.errors import Aggregate, CommandError, UsageError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import DRY_RUN, SELECTOR
from engine.kubectl.selection import Info, Selection, collect
from engine.kubectl.session import Session

RETRY_SECONDS = 5.0
MIRROR = "kubernetes.io/config.mirror"


def _check_arguments(session: Session) -> None:
    """Nodes are named or selected, which is looked at before anything else. Raises UsageError."""
    if session.arguments and session.flags.text("selector"):
        raise UsageError("error: cannot specify both a node name and a --selector option")
    if not session.arguments and not session.flags.text("selector"):
        raise UsageError(f"USAGE: {session.verb} NODE [flags]")


async def _nodes(session: Session) -> list[Info]:
    if "" in session.arguments:
        raise CommandError("resource name may not be empty")
    words = [word if "/" in word else f"nodes/{word}" for word in session.arguments] or ["nodes"]
    selection = replace(Selection.of_flags(session, arguments=words), typed=True)
    found, errors = await collect(session, selection)
    if errors:
        raise errors[0]
    for info in found:
        if info.resource.kind != "Node":
            gvr = info.resource.gvr
            raise CommandError(
                f'expected resource of type node, got "{gvr.group}/{gvr.version}, Resource={gvr.resource}"'
            )
    return found


def _cordoner(unschedulable: bool) -> Run:
    async def run(session: Session) -> None:
        _check_arguments(session)
        dry_run = session.dry_run()
        for info in await _nodes(session):
            await _cordon(session, info, unschedulable=unschedulable, dry_run=dry_run)

    return run


async def _cordon(session: Session, info: Info, *, unschedulable: bool, dry_run: str) -> None:
    word = "cordoned" if unschedulable else "uncordoned"
    suffix = {"client": " (dry run)", "server": " (server dry run)"}.get(dry_run, "")
    if bool((info.object.get("spec") or {}).get("unschedulable")) == unschedulable:
        session.out(f"node/{info.name} already {word}{suffix}")
        return
    if dry_run != "client":
        patch = {"spec": {"unschedulable": True if unschedulable else None}}
        query = {"dryRun": "All" if dry_run == "server" else ""}
        info.refresh(await session.patch(info.resource, info.name, "", patch, STRATEGIC_PATCH, **query))
    session.out(f"node/{info.name} {word}{suffix}")


# -- draining


async def drain(session: Session) -> None:
    _check_arguments(session)
    dry_run = session.dry_run()
    try:
        LabelSelector.parse(session.flags.text("pod-selector"))
    except ApiError as error:
        raise CommandError("--pod-selector=<pod_selector> must be a valid label selector") from error
    nodes = await _nodes(session)
    for info in nodes:
        await _cordon(session, info, unschedulable=True, dry_run=dry_run)
    failed: dict[str, Exception] = {}
    for info in nodes:
        try:
            await _drain(session, info, dry_run)
        except (Aggregate, CommandError, ApiError) as error:
            session.err(f'error: unable to drain node "{info.name}" due to error: {error}, continuing command...')
            failed[info.name] = error
            continue
        suffix = {"client": " (dry run)", "server": " (server dry run)"}.get(dry_run, "")
        session.out(f"node/{info.name} drained{suffix}")
    if failed:
        names = [info.name for info in nodes if info.name in failed]
        session.err("There are pending nodes to be drained:")
        for name in names:
            session.err(f" {name}")
        if len(names) == 1:
            raise failed[names[0]]
        raise Aggregate([part for name in names for part in _parts(failed[name])])


def _parts(error: Exception) -> list[Exception]:
    return error.errors if isinstance(error, Aggregate) else [error]


async def _drain(session: Session, info: Info, dry_run: str) -> None:
    resource = await session.resolve("pods")
    listed = await session.list(
        resource, "", fieldSelector=f"spec.nodeName={info.name}", labelSelector=session.flags.text("pod-selector")
    )
    leaving = await _filter(session, listed)
    pods = [Info(resource, pod["metadata"]["namespace"], pod["metadata"]["name"], object=pod) for pod in leaving]
    if dry_run != "none":
        for pod in pods:
            await _try_eviction(session, pod, dry_run)
        return
    try:
        await (_delete_all if session.flags.on("disable-eviction") else _evict_all)(session, pods)
    except (Aggregate, CommandError, ApiError) as error:
        await _tell_of_pending(session, info, pods, error)
        raise


async def _tell_of_pending(session: Session, node: Info, pods: Sequence[Info], error: Exception) -> None:
    pending = [pod for pod in pods if await is_there(session, pod)]
    if pending:
        session.err(f'There are pending pods in node "{node.name}" when an error occurred: {error}')
    for pod in pending:
        session.err(f"pod/{pod.name}")


async def _evict_all(session: Session, pods: Sequence[Info]) -> None:
    """Ask for the evictions and wait until the Pods are gone. Raises Aggregate when that takes too long."""
    asked: set[str] = set()
    left = list(pods)
    limit = session.flags.seconds("timeout")
    try:
        async with session.clock.timeout(limit or FOREVER):
            for pod in pods:
                await _evict(session, pod)
                asked.add(pod.where)
            for pod in pods:
                await _wait(session, pod, "evicted")
                left.remove(pod)
    except TimeoutError as error:
        raise Aggregate([_late(pod, limit, asked=pod.where in asked) for pod in left]) from error


def _late(pod: Info, limit: float, *, asked: bool) -> CommandError:
    if not asked:
        text = f'error when evicting pods/"{pod.name}" -n "{pod.namespace}": global timeout reached: {limit:g}s'
        return CommandError(text)
    where = f'pod "{pod.name}" in namespace "{pod.namespace}"'
    return CommandError(f"error when waiting for {where} to terminate: context deadline exceeded")


async def _delete_all(session: Session, pods: Sequence[Info]) -> None:
    """Delete the Pods and wait until they are gone. Raises CommandError when that takes too long."""
    try:
        async with session.clock.timeout(session.flags.seconds("timeout") or FOREVER):
            for pod in pods:
                await delete(session, pod, grace=session.flags.number("grace-period"))
            for pod in pods:
                await _wait(session, pod, "deleted")
    except TimeoutError as error:
        raise CommandError("context deadline exceeded") from error


async def _wait(session: Session, pod: Info, done: str) -> None:
    await wait_gone(session, pod, pod.object["metadata"].get("uid", ""), timeout=FOREVER)
    session.out(f"pod/{pod.name} {done}")


async def _filter(session: Session, pods: list[Object]) -> list[Object]:
    """The Pods that have to leave. Raises CommandError where one may not be deleted, says what is left out."""
    flags = session.flags
    leaving: list[Object] = []
    refused: dict[str, list[str]] = {}
    warned: dict[str, list[str]] = {}
    for pod in pods:
        metadata = pod["metadata"]
        name = f"{metadata['namespace']}/{metadata['name']}"
        if MIRROR in (metadata.get("annotations") or {}):
            continue
        controller = next((ref for ref in metadata.get("ownerReferences") or () if ref.get("controller")), None)
        finished = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
        if controller and controller["kind"] == "DaemonSet" and not finished:
            if flags.on("ignore-daemonsets"):
                warned.setdefault("ignoring DaemonSet-managed Pods", []).append(name)
            else:
                hint = "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
                refused.setdefault(hint, []).append(name)
            continue
        if _has_local_data(pod) and not finished and not flags.on("delete-emptydir-data"):
            hint = "cannot delete Pods with local storage (use --delete-emptydir-data to override)"
            refused.setdefault(hint, []).append(name)
            continue
        if controller is None and not finished:
            if not flags.on("force"):
                hint = "cannot delete Pods that declare no controller (use --force to override)"
                refused.setdefault(hint, []).append(name)
                continue
            warned.setdefault("deleting Pods that declare no controller", []).append(name)
        leaving.append(pod)
    if refused:
        raise Aggregate([CommandError(f"{why}: {', '.join(names)}") for why, names in refused.items()])
    if warned:
        session.err("Warning: " + "; ".join(f"{why}: {', '.join(names)}" for why, names in warned.items()))
    return leaving


def _has_local_data(pod: Object) -> bool:
    return any("emptyDir" in volume for volume in pod["spec"].get("volumes") or ())


async def _try_eviction(session: Session, pod: Info, dry_run: str) -> None:
    """Say that a Pod would be evicted; the server is asked whether it may be."""
    if dry_run == "client":
        session.out(f"evicting pod {pod.namespace}/{pod.name} (dry run)")
        return
    if session.flags.on("disable-eviction"):
        await delete(session, pod, grace=session.flags.number("grace-period"), dry_run=True)
        return
    session.out(f"evicting pod {pod.namespace}/{pod.name} (server dry run)")
    body = _eviction(session, pod)
    body["deleteOptions"]["dryRun"] = ["All"]
    await session.request("POST", session.path_of(pod.resource, pod.namespace, pod.name, "eviction"), body=body)


def _eviction(session: Session, pod: Info) -> Object:
    grace = session.flags.number("grace-period")
    options: Object = {"gracePeriodSeconds": grace} if grace >= 0 else {}
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "deleteOptions": options,
    }


async def _evict(session: Session, pod: Info) -> None:
    """Ask for the eviction, again and again while a disruption budget is in the way."""
    session.out(f"evicting pod {pod.namespace}/{pod.name}")
    body = _eviction(session, pod)
    path = session.path_of(pod.resource, pod.namespace, pod.name, "eviction")
    while True:
        try:
            await session.request("POST", path, body=body)
        except ApiError as error:
            if error.reason == "NotFound":
                return
            if error.code != 429:
                why = f'error when evicting pods/"{pod.name}" -n "{pod.namespace}": {error.message}'
                raise Aggregate([CommandError(why)]) from error
            session.err(
                f'error when evicting pods/"{pod.name}" -n "{pod.namespace}" (will retry after 5s): {error.message}'
            )
            await session.clock.sleep(RETRY_SECONDS)
            session.out(f"evicting pod {pod.namespace}/{pod.name}")
            continue
        return


CORDON = Command(
    name="cordon", short="Mark node as unschedulable", usage="NODE", run=_cordoner(True), flags=(*SELECTOR, *DRY_RUN)
)
UNCORDON = Command(
    name="uncordon", short="Mark node as schedulable", usage="NODE", run=_cordoner(False), flags=(*SELECTOR, *DRY_RUN)
)
DRAIN = Command(
    name="drain",
    short="Drain node in preparation for maintenance",
    usage="NODE",
    run=drain,
    flags=(
        *SELECTOR,
        *DRY_RUN,
        Flag("chunk-size", Type.INT, default=500, help="How many objects to ask for at once."),
        Flag("delete-emptydir-data", Type.BOOL, help="Also Pods with emptyDir volumes, whose data is lost."),
        Flag("disable-eviction", Type.BOOL, help="Delete rather than evict, whatever disruption budgets say."),
        Flag("force", Type.BOOL, help="Also Pods that no controller brings back."),
        Flag("grace-period", Type.INT, default=-1, help="Seconds that each Pod is given to end."),
        Flag("ignore-daemonsets", Type.BOOL, help="Leave the Pods of DaemonSets."),
        Flag("pod-selector", help="Only the Pods with these labels."),
        Flag("skip-wait-for-delete-timeout", Type.INT, help="Do not wait for Pods that are being deleted longer."),
        Flag("timeout", Type.DURATION, help="How long to wait; 0 for ever."),
    ),
)
