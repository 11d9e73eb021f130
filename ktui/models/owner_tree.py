"""Objects under their owners: Deployment → ReplicaSet → Pod → container, as rows of a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from engine.api.duration import human_duration
from engine.api.tables.pods import pod_summary
from engine.api.types import Object
from ktui.models.branches import Branch, Branches
from ktui.models.grid_row import NO_LABELS
from ktui.models.link import Link
from ktui.models.signs import AGAIN, DONE, WAITING, WRONG, is_failing

TITLES = ("OBJECT", "READY", "STATUS", "AGE")
KINDS = (
    "deployments.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "cronjobs.batch",
    "jobs.batch",
    "replicasets.apps",
    "replicationcontrollers",
    "pods",
)
_TONES = {DONE: "foreground", WAITING: "warning", WRONG: "error"}
CONTAINERS = {  # a word for them → where a Pod tells of them
    "init": ("initContainers", "initContainerStatuses"),
    "": ("containers", "containerStatuses"),
    "ephemeral": ("ephemeralContainers", "ephemeralContainerStatuses"),
}


def tone_of(sign: str) -> str:
    return _TONES[sign]


class OwnerTree:
    """`found` maps a kind, as in `KINDS`, to its objects."""

    def __init__(self, found: Mapping[str, Iterable[Object]]) -> None:
        self._kinds: dict[str, str] = {}
        self._children: dict[str, list[Object]] = defaultdict(list)
        self._objects: dict[str, Object] = {}
        for kind, objects in found.items():
            for obj in objects:
                uid = obj["metadata"]["uid"]
                self._objects[uid], self._kinds[uid] = obj, kind
        for obj in self._objects.values():
            self._children[self._owner(obj)].append(obj)

    def _owner(self, obj: Object) -> str:
        """The uid of the owner that is here, the controller first; "" for none."""
        owners = obj["metadata"].get("ownerReferences") or ()
        here = [owner for owner in owners if owner.get("uid") in self._objects]
        return next((o["uid"] for o in here if o.get("controller")), here[0]["uid"] if here else "")

    def links(self) -> dict[str, Link]:
        """Where each row leads; a container to its Pod."""
        return {uid: _link(self._kinds[uid], obj) for uid, obj in self._objects.items()}

    def find(self, key: str) -> tuple[str, Object] | None:
        """The kind and the object of a row; of a container's row its Pod."""
        uid = key.partition("/")[0]
        return (self._kinds[uid], self._objects[uid]) if uid in self._objects else None

    def rows(self, now: datetime | None, only: str = "") -> Branches:
        """Of everything, or of the objects of one kind with what they own."""
        roots = self._of_kind(only) if only else self._children_of("")
        return Branches([self._branch(obj, now) for obj in roots])

    def _of_kind(self, kind: str) -> list[Object]:
        return self._sorted(obj for uid, obj in self._objects.items() if self._kinds[uid] == kind)

    def _children_of(self, uid: str) -> list[Object]:
        return self._sorted(self._children.get(uid, ()))

    def _sorted(self, objects: Iterable[Object]) -> list[Object]:
        order = {kind: index for index, kind in enumerate(KINDS)}
        return sorted(
            objects,
            key=lambda obj: (
                obj["metadata"].get("namespace", ""),
                order.get(self._kinds[obj["metadata"]["uid"]], len(order)),
                obj["metadata"]["name"],
            ),
        )

    def _branch(self, obj: Object, now: datetime | None) -> Branch:
        """The object with what it owns; a Pod with its containers."""
        metadata = obj["metadata"]
        uid = metadata["uid"]
        kind = self._kinds[uid]
        ready, status, sign = state_of(kind, obj)
        name = f"{kind.partition('.')[0].removesuffix('s')}/{metadata['name']}"
        cells = (name, ready, status, _age(metadata.get("creationTimestamp"), now))
        is_pod = kind == "pods"
        below = _containers(obj) if is_pod else [self._branch(child, now) for child in self._children_of(uid)]
        return Branch(uid, sign, cells, tone_of(sign), below, metadata.get("labels") or NO_LABELS)


def _link(kind: str, obj: Object) -> Link:
    return Link(kind, obj["metadata"]["name"], obj["metadata"].get("namespace"))


def _age(created: str | None, now: datetime | None) -> str:
    if not created or now is None:
        return ""
    return human_duration(max(0.0, (now - datetime.fromisoformat(created)).total_seconds()))


def _containers(pod: Object) -> list[Branch]:
    """Those that prepare the Pod first, and those that somebody looks into it with last."""
    return [
        _container(pod["metadata"]["uid"], container, statuses, kind)
        for kind, fields in CONTAINERS.items()
        for statuses in [{each["name"]: each for each in pod.get("status", {}).get(fields[1]) or ()}]
        for container in pod["spec"].get(fields[0]) or ()
    ]


def _container(uid: str, container: Object, statuses: Mapping[str, Any], kind: str) -> Branch:
    status = statuses.get(container["name"], {})
    words, sign = container_state(status)
    if kind == "ephemeral" and words == "Running":
        sign = DONE  # nobody asks whether it is ready
    restarts = status.get("restartCount", 0)
    name = f"{container['name']}  {container.get('image', '')}{f'  {kind}' if kind else ''}"
    cells = (name, "", f"{words}{f' {AGAIN}{restarts}' if restarts else ''}", "")
    return Branch(f"{uid}/{container['name']}", sign, cells, tone_of(sign))


def container_state(status: Mapping[str, Any]) -> tuple[str, str]:
    """A word, and a sign."""
    state = status.get("state") or {}
    if "running" in state:
        return "Running", DONE if status.get("ready") else WAITING
    if "terminated" in state:
        ended = state["terminated"]
        return ended.get("reason", "Terminated"), DONE if ended.get("exitCode") == 0 else WRONG
    reason = (state.get("waiting") or {}).get("reason", "Waiting")
    return reason, WRONG if is_failing(reason) else WAITING


def state_of(kind: str, obj: Object) -> tuple[str, str, str]:
    """How many of how many are ready, a word, and a sign."""
    status, spec = obj.get("status", {}), obj.get("spec", {})
    if kind == "pods":
        return _pod_state(obj)
    if kind == "cronjobs.batch":
        return "", "Suspended" if spec.get("suspend") else spec.get("schedule", ""), DONE
    if kind == "jobs.batch":
        return _job_state(obj)
    if kind == "daemonsets.apps":
        ready, wanted = status.get("numberReady", 0), status.get("desiredNumberScheduled", 0)
    else:
        ready, wanted = status.get("readyReplicas", 0), spec.get("replicas", 1)
    return f"{ready}/{wanted}", "" if ready >= wanted else "waiting", DONE if ready >= wanted else WAITING


def _job_state(job: Object) -> tuple[str, str, str]:
    status = job.get("status", {})
    ended = [c["type"] for c in status.get("conditions") or () if c.get("status") == "True"]
    word = next((word for word in ("Failed", "Complete", "Suspended") if word in ended), "Running")
    sign = WRONG if word == "Failed" else DONE if word == "Complete" else WAITING
    return f"{status.get('succeeded', 0)}/{job.get('spec', {}).get('completions', 1)}", word, sign


def _pod_state(pod: Object) -> tuple[str, str, str]:
    """As kubectl's table has it."""
    summary = pod_summary(pod)
    ready = f"{summary.ready}/{summary.total}"
    is_done = pod.get("status", {}).get("phase") == "Succeeded"
    if not is_done and (pod.get("status", {}).get("phase") == "Failed" or is_failing(summary.reason)):
        return ready, summary.reason, WRONG
    is_well = is_done or (summary.ready == summary.total and summary.reason == "Running")
    return ready, summary.reason, DONE if is_well else WAITING
