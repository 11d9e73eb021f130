"""core/v1 ContainerStatus out of the runtime's containers (kubelet_pods.go convertToAPIContainerStatuses)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.cri import ContainerState, ContainerStatus
from engine.kubelet.kuberuntime import restarting
from engine.kubelet.kuberuntime.pod_status import PodRuntimeStatus, should_restart
from engine.kubelet.status.reasons import ReasonCache
from engine.kubelet.status.termination import Leavings, termination_message

RUNTIME = "containerd"
NEVER_STARTED = "1970-01-01T00:00:00Z"
LOST_EXIT_CODE = 137
LOST_MESSAGE = "The container could not be located when the pod was deleted.  The container used to be Running"
INITIALIZED_MESSAGE = (
    "Unable to get init container status from container runtime and pod has been initialized, "
    "treat it as exited normally"
)


def container_statuses(
    pod: Object,
    status: PodRuntimeStatus,
    containers: Sequence[Object],
    previous: Sequence[Object],
    *,
    init: bool = False,
    restarting_all: bool = False,
    reasons: ReasonCache,
    leavings: Leavings,
) -> list[Object]:
    """The statuses of one list of containers. `ready` and `started` are the prober's to set. `restarting_all`: what is
    not there was removed for the Pod to begin again."""
    waiting = "PodInitializing" if init or pods.init_containers_of(pod) else "ContainerCreating"
    before = {item["name"]: item for item in previous}
    made = [
        _status(
            pod,
            container,
            status,
            before.get(container["name"]),
            waiting,
            init=init,
            restarting_all=restarting_all,
            reasons=reasons,
            leavings=leavings,
        )
        for container in containers
    ]
    return made if init else sorted(made, key=lambda item: str(item["name"]))


def _status(
    pod: Object,
    container: Object,
    status: PodRuntimeStatus,
    before: Object | None,
    waiting: str,
    *,
    init: bool,
    restarting_all: bool,
    reasons: ReasonCache,
    leavings: Leavings,
) -> Object:
    found = status.of_name(container["name"])
    if found:
        made = _of_runtime(container, found, before, leavings)
    else:
        made = _without_runtime(container, before, waiting)
        if restarting_all and before is not None and "waiting" not in (before.get("state") or {}):
            _remove(made, before)
        elif pods.restart_policy(pod) == "Never":
            _end_lost(made, before)
    if not found and init and "waiting" in made["state"] and _has_gone_on(pod, container, status):
        made["state"] = _untimed(0, INITIALIZED_MESSAGE, "Completed")
        return made
    if _will_restart(pod, container, status):
        reason = reasons.get(pods.uid_of(pod), container["name"])
        if reason is not None:
            if "terminated" in made["state"]:
                made["lastState"] = made["state"]
            made["state"] = {"waiting": {"message": reason[1], "reason": reason[0]}}
    return made


def _has_gone_on(pod: Object, init_container: Object, status: PodRuntimeStatus) -> bool:
    """Regular containers were made, so a regular init container that nobody knows of any more has done its work."""
    created = any(status.find(container["name"]) is not None for container in pods.containers_of(pod))
    return created and not pods.is_sidecar(init_container)


def _will_restart(pod: Object, container: Object, status: PodRuntimeStatus) -> bool:
    found = status.find(container["name"])
    init = any(container is other for other in pods.init_containers_of(pod))
    done = found is not None and found.state == ContainerState.EXITED and found.exit_code == 0
    if init and done and not pods.is_sidecar(container):
        return False
    return should_restart(pod, container, status)


def _of_runtime(container: Object, found: list[ContainerStatus], before: Object | None, leavings: Leavings) -> Object:
    newest = found[0]
    last = _terminated(found[1], container, leavings) if len(found) > 1 else _last_of_before(newest, before)
    made: Object = {
        "containerID": f"{RUNTIME}://{newest.id}",
        "image": newest.image,
        "imageID": newest.image_ref,
        "lastState": last,
        "name": newest.name,
        "ready": False,
        "restartCount": newest.attempt,
        "started": False,
        "state": _state(newest, container, leavings),
    }
    _resources(made, container, newest)
    made["user"] = {"linux": _user(newest)}
    if mounts := _volume_mounts(container):
        made["volumeMounts"] = mounts
    return made


def _user(status: ContainerStatus) -> Object:
    who = status.identity
    return {"gid": who.gid, "supplementalGroups": list(who.all_groups), "uid": who.uid}


def _resources(made: Object, container: Object, status: ContainerStatus) -> None:
    """What is allocated, and what a running container has of it by now (KEP-1287)."""
    allocated = container.get("resources") or {}
    resources = status.config.resources if status.state == ContainerState.RUNNING else allocated
    if allocated.get("requests"):
        made["allocatedResources"] = allocated["requests"]
    made["resources"] = {key: resources[key] for key in ("limits", "requests") if resources.get(key)}


def _volume_mounts(container: Object) -> list[Object]:
    mounts = []
    for mount in container.get("volumeMounts") or ():
        made: Object = {"mountPath": mount["mountPath"], "name": mount["name"]}
        if mount.get("readOnly"):
            recursive = mount.get("recursiveReadOnly") in ("Enabled", "IfPossible")
            made.update(readOnly=True, recursiveReadOnly="Enabled" if recursive else "Disabled")
        mounts.append(made)
    return mounts


def _state(status: ContainerStatus, container: Object, leavings: Leavings) -> Object:
    if status.state == ContainerState.RUNNING and status.started_at is not None:
        return {"running": {"startedAt": pods.format_time(status.started_at)}}
    if status.state == ContainerState.EXITED:
        return _terminated(status, container, leavings)
    return {"waiting": {}}


def _terminated(status: ContainerStatus, container: Object, leavings: Leavings) -> Object:
    made: Object = {
        "containerID": f"{RUNTIME}://{status.id}",
        "exitCode": status.exit_code,
        "finishedAt": pods.format_time(status.finished_at) if status.finished_at else NEVER_STARTED,
        "reason": status.reason,
        "startedAt": pods.format_time(status.started_at) if status.started_at else NEVER_STARTED,
    }
    if message := termination_message(status, container, leavings):
        made["message"] = message
    return {"terminated": made}


def _without_runtime(container: Object, before: Object | None, waiting: str) -> Object:
    """A container that the runtime does not hold: not begun, or begun once and lost with the node's memory."""
    made: Object = {
        "image": container["image"],
        "imageID": "",
        "lastState": {},
        "name": container["name"],
        "ready": False,
        "restartCount": 0,
        "started": False,
        "state": {"waiting": {"reason": waiting}},
    }
    if mounts := _volume_mounts(container):
        made["volumeMounts"] = mounts
    if before is None:
        return made
    state = before.get("state") or {}
    if "terminated" in state:
        return {**before, "ready": False, "started": False}
    # One that was there once and is lost will be there again: that is a restart.
    counted = not before.get("containerID") or restarting.was_removed(before)
    made["restartCount"] = before.get("restartCount", 0) + (not counted)
    made["lastState"] = before.get("lastState") or {}
    if "running" in state and not made["lastState"].get("terminated"):
        made["lastState"] = _lost()
    return made


def _lost() -> Object:
    """How a container ended that ran when its machine was switched off, and of which nothing is left."""
    return _untimed(LOST_EXIT_CODE, LOST_MESSAGE, "ContainerStatusUnknown")


def _untimed(exit_code: int, message: str, reason: str) -> Object:
    """An end that nobody saw."""
    times = {"finishedAt": None, "startedAt": None}
    return {"terminated": {"exitCode": exit_code, "message": message, "reason": reason, **times}}


def _remove(made: Object, before: Object) -> None:
    """Say that a container was removed for its Pod to begin again: that is a restart, however it ended before."""
    waiting = {"message": restarting.MESSAGE, "reason": restarting.REASON}
    last = _untimed(LOST_EXIT_CODE, restarting.MESSAGE, restarting.REASON)
    made.update(state={"waiting": waiting}, lastState=last, restartCount=before.get("restartCount", 0) + 1)


def _last_of_before(newest: ContainerStatus, before: Object | None) -> Object:
    """What the API still knows of the container before this one, where the runtime has lost it."""
    if before is None or not newest.attempt:
        return {}
    last: Object = before.get("lastState") or {}
    is_another = before.get("containerID", "") not in ("", f"{RUNTIME}://{newest.id}")
    return _lost() if is_another and "running" in (before.get("state") or {}) else last


def _end_lost(made: Object, before: Object | None) -> None:
    """A lost container that will not come back has ended: nothing is waited for."""
    if before is not None and "running" in (before.get("state") or {}):
        made.update(state=_lost(), lastState=before.get("lastState") or {}, restartCount=before.get("restartCount", 0))
        made["containerID"] = before.get("containerID", "")
