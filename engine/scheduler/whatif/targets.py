"""Which Pods are meant by KIND/NAME: the Pod itself, or those whose owners lead to the object."""

from __future__ import annotations

import re
from collections.abc import Iterable

from engine.api.resources import ResourceRegistry
from engine.api.types import DEPLOYMENTS, GVR, NODES, PODS, REPLICA_SETS, Object
from engine.rng import NAME_ALPHABET
from engine.scheduler.plugins.spread_constraints import REPLICATION_CONTROLLERS, STATEFUL_SETS
from engine.scheduler.whatif.cluster import DumpError, group_kind

# What may stand between a Pod and the object that was named.
_JOBS = GVR("batch", "v1", "jobs")
BETWEEN: dict[tuple[str, str], GVR] = {("apps", "ReplicaSet"): REPLICA_SETS, ("batch", "Job"): _JOBS}

_HASH = re.compile(f"[{NAME_ALPHABET}]{{1,10}}")

# What has Pods, and so can be asked about.
ASKED: dict[str, GVR] = {
    "Pod": PODS,
    "Deployment": DEPLOYMENTS,
    "ReplicaSet": REPLICA_SETS,
    "StatefulSet": STATEFUL_SETS,
    "DaemonSet": GVR("apps", "v1", "daemonsets"),
    "Job": _JOBS,
    "CronJob": GVR("batch", "v1", "cronjobs"),
    "ReplicationController": REPLICATION_CONTROLLERS,
    "Node": NODES,
}


def kind_of(word: str, version: str = "") -> str:
    """The kind that a word of the command line names (`deploy`, `deployments`, `Deployment`). Raises DumpError."""
    wanted = word.lower().partition(".")[0]
    for info in ResourceRegistry.for_version(version):
        if wanted in (info.gvr.resource, info.singular, info.kind.lower(), *info.short_names):
            return info.kind
    raise DumpError(f'the server doesn\'t have a resource type "{word}"')


def asked_kind(word: str) -> str:
    """The kind that a word names, if it is one that has Pods. Raises DumpError."""
    kind = kind_of(word)
    if kind not in ASKED:
        kinds = ", ".join(name.lower() for name in ASKED if name != "Node")
        raise DumpError(f"a {kind} is no workload: ask about a {kinds}, or about a node for the Pods on it")
    return kind


def _controller(obj: Object) -> tuple[str, str] | None:
    owners = obj["metadata"].get("ownerReferences") or ()
    return next(((o["kind"], o["name"]) for o in owners if o.get("controller")), None)


def _deployment_of(owner: tuple[str, str], pod: Object) -> tuple[str, str] | None:
    """The Deployment behind a ReplicaSet that a dump leaves out: its name is that of the Deployment and a hash of the
    Pods' template, which they have as a label."""
    kind, name = owner
    own = (pod["metadata"].get("labels") or {}).get("pod-template-hash")
    deployment, _, number = name.rpartition("-")
    if kind != "ReplicaSet" or not deployment or not (number == own if own else _HASH.fullmatch(number)):
        return None
    return "Deployment", deployment


def pods_under(
    kind: str, name: str, *, namespace: str, pods: Iterable[Object], between: Iterable[Object] = ()
) -> list[Object]:
    """The Pods of the namespace that are meant, `between` being its ReplicaSets and Jobs. A Node means its Pods."""
    if kind == "Node":
        return [pod for pod in pods if pod["spec"].get("nodeName") == name]
    own = [pod for pod in pods if pod["metadata"].get("namespace", "default") == namespace]
    if kind == "Pod":
        return [pod for pod in own if pod["metadata"]["name"] == name]
    owners = {
        (group_kind(obj)[1], obj["metadata"]["name"]): _controller(obj)
        for obj in between
        if obj["metadata"].get("namespace", "default") == namespace
    }

    def leads(pod: Object) -> bool:
        at = _controller(pod)
        while at is not None and at != (kind, name):
            at = owners[at] if at in owners else _deployment_of(at, pod)
        return at is not None

    return [pod for pod in own if leads(pod)]
