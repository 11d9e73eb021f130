"""The Pods that a workload's controller would make: one after another, as many as it asks for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import count as numbers
from itertools import islice
from math import gcd

from engine.api.persistent_volumes import CLAIMS
from engine.api.types import NODES, PODS, Object, copy_object
from engine.rng import NAME_ALPHABET
from engine.scheduler.selecting import canonical, node_matches_pod
from engine.scheduler.tolerating import untolerated_taint
from engine.scheduler.whatif.cluster import ClusterObjects, DumpError, group_kind

_NAME_LENGTH = 5


def _letters(text: bytes, length: int) -> str:
    """Letters as names have them, the same for the same text."""
    digest = hashlib.sha256(text).digest()
    return "".join(NAME_ALPHABET[byte % len(NAME_ALPHABET)] for byte in digest[:length])


def _suffix(name: str, number: int) -> str:
    """No two numbers have the same before all names are used up: a controller that meets a name which is taken tries
    another. A stride that shares no divisor with the number of names goes through all of them."""
    digest = hashlib.sha256(name.encode()).digest()
    base = len(NAME_ALPHABET)
    names = base**_NAME_LENGTH
    stride = int.from_bytes(digest[8:16]) % names
    while gcd(stride, names) != 1:
        stride += 1
    rest, letters = (int.from_bytes(digest[:8]) + number * stride) % names, ""
    for _ in range(_NAME_LENGTH):
        rest, letter = divmod(rest, base)
        letters += NAME_ALPHABET[letter]
    return letters


def _owner(obj: Object) -> Object:
    metadata = obj["metadata"]
    uid = metadata.get("uid") or f"{metadata.get('namespace', '')}/{metadata['name']}"
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": metadata["name"],
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _from_template(owner: Object, template: Object, name: str, labels: dict[str, str] | None = None) -> Object:
    template = copy_object(template)
    made = template.get("metadata") or {}
    metadata: Object = {"name": name, "namespace": owner["metadata"].get("namespace") or "default"}
    if all_labels := {**(made.get("labels") or {}), **(labels or {})}:
        metadata["labels"] = all_labels
    if made.get("annotations"):
        metadata["annotations"] = made["annotations"]
    metadata["ownerReferences"] = [_owner(owner)]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}}


def _replicas(obj: Object) -> int:
    wanted = obj["spec"].get("replicas")
    return 1 if wanted is None else int(wanted)


def _template(obj: Object) -> Object:
    template = (obj.get("spec") or {}).get("template")
    if not isinstance(template, dict) or not isinstance(template.get("spec"), dict):
        raise DumpError(f"{obj['kind']} {obj['metadata'].get('name', '')}: spec.template.spec: Required value")
    return template


def _of_deployment(obj: Object, cluster: ClusterObjects) -> Iterator[Object]:
    """By way of a ReplicaSet, which spreading by default looks up."""
    template = _template(obj)
    number = _letters(canonical(template), 10)
    metadata = obj["metadata"]
    labels = {**((template.get("metadata") or {}).get("labels") or {}), "pod-template-hash": number}
    replica_set: Object = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{metadata['name']}-{number}",
            "namespace": metadata.get("namespace") or "default",
            "labels": labels,
            "ownerReferences": [_owner(obj)],
        },
        "spec": {
            "replicas": _replicas(obj),
            "selector": {"matchLabels": labels},
            "template": {**template, "metadata": {**(template.get("metadata") or {}), "labels": labels}},
        },
    }
    cluster.add(replica_set)
    yield from _of_replicas(replica_set, cluster)


def _of_replicas(obj: Object, cluster: ClusterObjects) -> Iterator[Object]:
    template, name = _template(obj), obj["metadata"]["name"]
    cluster.add(obj)
    for number in range(_replicas(obj)):
        yield _from_template(obj, template, f"{name}-{_suffix(name, number)}")


def _of_stateful_set(obj: Object, cluster: ClusterObjects) -> Iterator[Object]:
    template, name = _template(obj), obj["metadata"]["name"]
    cluster.add(obj)
    first = int((obj["spec"].get("ordinals") or {}).get("start") or 0)
    for ordinal in range(first, first + _replicas(obj)):
        labels = {
            "statefulset.kubernetes.io/pod-name": f"{name}-{ordinal}",
            "apps.kubernetes.io/pod-index": str(ordinal),
        }
        pod = _from_template(obj, template, f"{name}-{ordinal}", labels)
        _add_claims(obj, pod, ordinal, cluster)
        yield pod


def _add_claims(obj: Object, pod: Object, ordinal: int, cluster: ClusterObjects) -> None:
    """Claims from volumeClaimTemplates, those that are there already left as they are."""
    namespace, volumes = pod["metadata"]["namespace"], []
    for template in obj["spec"].get("volumeClaimTemplates") or ():
        volume = (template.get("metadata") or {}).get("name") or ""
        claim = f"{volume}-{obj['metadata']['name']}-{ordinal}"
        volumes.append({"name": volume, "persistentVolumeClaim": {"claimName": claim}})
        add_claim(cluster, claim, namespace=namespace, spec=template.get("spec") or {})
    if volumes:
        named = {volume["name"] for volume in volumes}
        others = [v for v in pod["spec"].get("volumes") or () if v.get("name") not in named]
        pod["spec"]["volumes"] = [*others, *volumes]


def add_claim(cluster: ClusterObjects, name: str, *, namespace: str, spec: Object, owner: Object | None = None) -> None:
    """A claim that a controller would make."""
    if cluster.lister(CLAIMS).get(name, namespace) is not None:
        return
    metadata: Object = {"name": name, "namespace": namespace, "uid": f"claim/{namespace}/{name}"}
    if owner is not None:
        metadata["ownerReferences"] = [owner]
    cluster.add({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": copy_object(spec)})


def _of_job(obj: Object, cluster: ClusterObjects) -> Iterator[Object]:
    """As many Pods as run at once."""
    template, name, spec = _template(obj), obj["metadata"]["name"], obj["spec"]
    parallelism = spec.get("parallelism")
    count = 1 if parallelism is None else int(parallelism)
    if spec.get("completions") is not None:
        count = min(count, int(spec["completions"]))
    indexed = spec.get("completionMode") == "Indexed"
    for number in range(count):
        labels = {"batch.kubernetes.io/job-name": name, "job-name": name}
        middle = ""
        if indexed:
            labels["batch.kubernetes.io/job-completion-index"] = str(number)
            middle = f"{number}-"
        yield _from_template(obj, template, f"{name}-{middle}{_suffix(name, number)}", labels)


def _of_cron_job(obj: Object, cluster: ClusterObjects) -> Iterator[Object]:
    """One run of it."""
    template = (obj.get("spec") or {}).get("jobTemplate") or {}
    name, namespace = f"{obj['metadata']['name']}-1", obj["metadata"].get("namespace") or "default"
    job: Object = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "ownerReferences": [_owner(obj)]},
        "spec": template.get("spec") or {},
    }
    yield from _of_job(job, cluster)


# What every Pod of a DaemonSet tolerates (pkg/controller/daemon/util AddOrUpdateDaemonPodTolerations).
_DAEMON_TOLERATIONS = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)


def _of_daemon_set(obj: Object, cluster: ClusterObjects) -> Iterator[Object]:
    """One on every node that the DaemonSet means, each bound for its node by affinity."""
    template, name = _template(obj), obj["metadata"]["name"]
    tolerations = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in _DAEMON_TOLERATIONS]
    if template["spec"].get("hostNetwork"):
        key = "node.kubernetes.io/network-unavailable"
        tolerations.append({"key": key, "operator": "Exists", "effect": "NoSchedule"})
    for number, node in enumerate(cluster.lister(NODES).list()):
        pod = _from_template(obj, template, f"{name}-{_suffix(name, number)}")
        pod["spec"]["tolerations"] = [*(pod["spec"].get("tolerations") or ()), *tolerations]
        taints = (node.get("spec") or {}).get("taints") or ()
        if not node_matches_pod(pod, node) or untolerated_taint(taints, pod["spec"]["tolerations"]) is not None:
            continue
        _aim(pod, node["metadata"]["name"])
        yield pod


def _aim(pod: Object, node_name: str) -> None:
    """Require the node by its name, in the place of the terms that it matches anyhow."""
    affinity = pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
    named = [{"key": "metadata.name", "operator": "In", "values": [node_name]}]
    affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [{"matchFields": named}]}


def _of_template(obj: Object, cluster: ClusterObjects) -> Iterator[Object]:
    template = obj.get("template") or {}
    yield {
        **template,
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**obj["metadata"], **(template.get("metadata") or {})},
    }


def _of_pod(obj: Object, cluster: ClusterObjects) -> Iterator[Object]:
    yield obj


WORKLOADS: dict[tuple[str, str], Callable[[Object, ClusterObjects], Iterator[Object]]] = {
    ("", "Pod"): _of_pod,
    ("", "PodTemplate"): _of_template,
    ("", "ReplicationController"): _of_replicas,
    ("apps", "ReplicaSet"): _of_replicas,
    ("apps", "Deployment"): _of_deployment,
    ("apps", "StatefulSet"): _of_stateful_set,
    ("apps", "DaemonSet"): _of_daemon_set,
    ("batch", "Job"): _of_job,
    ("batch", "CronJob"): _of_cron_job,
}


def is_workload(obj: Object) -> bool:
    return group_kind(obj) in WORKLOADS


def key_of(obj: Object) -> str:
    """`namespace/name` of a workload, with the prefix of one that has no name yet."""
    metadata = obj["metadata"]
    return f"{metadata.get('namespace') or 'default'}/{metadata.get('name') or metadata.get('generateName', '')}"


def made_for(obj: Object) -> str:
    """Of a workload whose Pods do not have their names yet: `Deployment default/web`; "" for a Pod that has its own."""
    own = group_kind(obj)[1] in ("Pod", "PodTemplate", "StatefulSet") and obj["metadata"].get("name")
    return "" if own else f"{obj['kind']} {key_of(obj)}"


def _named(obj: Object, cluster: ClusterObjects) -> Object:
    """With a name made up from its prefix, as the API server would: one that neither it nor its Pods share with those
    that are there."""
    metadata = obj["metadata"]
    if metadata.get("name"):
        return obj
    prefix, namespace, pods = metadata["generateName"], metadata.get("namespace") or "default", cluster.lister(PODS)
    names = (f"{prefix}{_suffix(prefix, number)}" for number in numbers())
    if group_kind(obj) == ("", "Pod"):
        name = next(name for name in names if pods.get(name, namespace) is None)
    else:
        there = [pod["metadata"]["name"] for pod in pods.list(namespace)]
        name = next(name for name in names if not any(taken.startswith(f"{name}-") for taken in there))
    return {**obj, "metadata": {**metadata, "name": name}}


def require_name(obj: Object) -> None:
    """Raises DumpError for a workload without one, or without a prefix of one."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or not (metadata.get("name") or metadata.get("generateName")):
        raise DumpError(f"a {obj['kind']} has no metadata.name")


def pods_of(obj: Object, cluster: ClusterObjects) -> Iterator[Object]:
    """The Pods of a workload, or the Pod itself; what stands behind them (a ReplicaSet, claims) is added to the
    cluster. Raises DumpError for an object that has no Pods."""
    make = WORKLOADS.get(group_kind(obj))
    if make is None:
        raise DumpError(f"{obj.get('kind', 'an object')} makes no Pods")
    require_name(obj)
    obj = _named(obj, cluster)
    # A Pod is read when it is admitted.
    yield from make(obj if group_kind(obj) == ("", "Pod") else cluster.read_workload(obj), cluster)


# Kinds whose Pods are all alike, so that there can be any number of them.
_REPLICATED = (
    ("", "ReplicationController"),
    ("apps", "ReplicaSet"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
)


def more_of(obj: Object, cluster: ClusterObjects, count: int) -> Iterator[Object]:
    """So many Pods like those of a workload, beside those that are there: of a StatefulSet each with claims of its
    own, of a kind that has no number of replicas copies of its first Pod. Raises DumpError."""
    namespace = obj["metadata"].get("namespace") or "default"
    there = {pod["metadata"]["name"] for pod in cluster.lister(PODS).list(namespace)}
    if group_kind(obj) in _REPLICATED and isinstance(obj.get("spec"), dict):
        scaled = {**obj, "spec": {**obj["spec"], "replicas": count + len(there)}}
        yield from islice((pod for pod in pods_of(scaled, cluster) if pod["metadata"]["name"] not in there), count)
        return
    for first in islice(pods_of(obj, cluster), 1):
        names = (f"{first['metadata']['name']}-{number}" for number in numbers(1))
        for name in islice((name for name in names if name not in there), count):
            copied = copy_object(first)
            copied["metadata"] = {**copied["metadata"], "name": name}
            copied["metadata"].pop("uid", None)
            yield copied
