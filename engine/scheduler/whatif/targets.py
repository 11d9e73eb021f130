"""Which Pods are meant by KIND/NAME: the Pod itself, or those whose owners lead to the object."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.resources import ResourceRegistry
from engine.api.types import GVR, Object
from engine.scheduler.whatif.cluster import DumpError, group_kind

# What may stand between a Pod and the object that was named.
BETWEEN: dict[tuple[str, str], GVR] = {
    ("apps", "ReplicaSet"): GVR("apps", "v1", "replicasets"),
    ("batch", "Job"): GVR("batch", "v1", "jobs"),
}


def kind_of(word: str, version: str = "") -> str:
    """The kind that a word of the command line names (`deploy`, `deployments`, `Deployment`). Raises DumpError."""
    wanted = word.lower().partition(".")[0]
    for info in ResourceRegistry.for_version(version):
        if wanted in (info.gvr.resource, info.singular, info.kind.lower(), *info.short_names):
            return info.kind
    raise DumpError(f'the server doesn\'t have a resource type "{word}"')


def _controller(obj: Object) -> tuple[str, str] | None:
    owners = obj["metadata"].get("ownerReferences") or ()
    return next(((o["kind"], o["name"]) for o in owners if o.get("controller")), None)


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
            at = owners.get(at)
        return at is not None

    return [pod for pod in own if leads(pod)]
