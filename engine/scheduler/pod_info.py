"""A pod with all that scheduling derives from it, computed once (framework.PodInfo).

Pods of one template share most of it: requests, affinity terms and the like are kept by the text they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import orjson

from engine.api.types import Object
from engine.scheduler.migrated_volumes import limited_volume
from engine.scheduler.pod_requests import non_zero_amounts, pod_amounts
from engine.scheduler.resource import Resource
from engine.scheduler.selecting import PodSelector, canonical, pod_selector, with_match_labels

DEFAULT_SCHEDULER_NAME = "default-scheduler"


class PodRequests(NamedTuple):
    resource: Resource
    non_zero_cpu: int
    non_zero_memory: int


@lru_cache(maxsize=8192)
def _requests(key: bytes) -> PodRequests:
    pod = orjson.loads(key)
    known = pod_amounts(pod)
    return PodRequests(Resource.of(known), *non_zero_amounts(pod, known))


def requests_of(pod: Object) -> PodRequests:
    """What a pod requests; the Resource is shared and must not be changed."""
    spec, status = pod["spec"], pod.get("status") or {}
    source: Object = {
        "spec": {
            "containers": [_sized(c) for c in spec.get("containers") or ()],
            "initContainers": [_sized(c) for c in spec.get("initContainers") or ()],
            "overhead": spec.get("overhead"),
            "resources": spec.get("resources"),
        }
    }
    if resizing := _resizing(status):
        source["status"] = resizing
    return _requests(canonical(source))


def _resizing(status: Object) -> Object:
    """What a status tells of resources, and of whether a resize can be."""
    told: Object = {name: status[name] for name in ("resources", "allocatedResources") if name in status}
    for kind in ("containerStatuses", "initContainerStatuses"):
        listed = [
            {name: s[name] for name in ("name", "resources", "allocatedResources") if name in s}
            for s in status.get(kind) or ()
            if "resources" in s or "allocatedResources" in s
        ]
        if listed:
            told[kind] = listed
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodResizePending":
            told["conditions"] = [{"type": "PodResizePending", "reason": condition.get("reason")}]
            break
    return told


def _sized(container: Object) -> Object:
    return {
        "name": container.get("name"),
        "resources": container.get("resources"),
        "restartPolicy": container.get("restartPolicy"),
    }


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """One term of pod affinity or anti-affinity. Equal terms are one object, so identity is equality."""

    namespaces: frozenset[str]
    namespace_selector: PodSelector
    selector: PodSelector
    topology_key: str
    key: bytes

    @property
    def static(self) -> bool:
        """Whether it asks for namespaces by name alone (or takes all), so that no namespace's labels matter."""
        return self.namespace_selector.key in (b"null", b"{}")

    def matches(self, pod: PodInfo, namespace_labels: Mapping[str, str]) -> bool:
        return self.matches_labels(pod.namespace, pod.labels, namespace_labels)

    def matches_labels(self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str]) -> bool:
        if namespace in self.namespaces or self.namespace_selector.matches(namespace_labels):
            return self.selector.matches(labels)
        return False

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffinityTerm) and self.key == other.key


class WeightedTerm(NamedTuple):
    term: AffinityTerm
    weight: int


class AffinityTerms(NamedTuple):
    required_affinity: tuple[AffinityTerm, ...] = ()
    required_anti_affinity: tuple[AffinityTerm, ...] = ()
    preferred_affinity: tuple[WeightedTerm, ...] = ()
    preferred_anti_affinity: tuple[WeightedTerm, ...] = ()


_NO_TERMS = AffinityTerms()


def _match_label_keys(term: Object, labels: Mapping[str, str]) -> Object | None:
    """The term's selector with its matchLabelKeys and mismatchLabelKeys (the API server merges them on creation;
    merging them again changes nothing)."""
    selector: Object | None = term.get("labelSelector")
    wanted = {key: labels[key] for key in term.get("matchLabelKeys") or () if key in labels}
    selector = with_match_labels(selector, wanted)
    unwanted = [key for key in term.get("mismatchLabelKeys") or () if key in labels]
    if selector is None or not unwanted:
        return selector
    added = [{"key": key, "operator": "NotIn", "values": [labels[key]]} for key in unwanted]
    return {**selector, "matchExpressions": [*(selector.get("matchExpressions") or ()), *added]}


def _term(term: Object, namespace: str, labels: Mapping[str, str]) -> AffinityTerm:
    listed = term.get("namespaces") or []
    namespace_selector = term.get("namespaceSelector")
    namespaces = frozenset(listed) if listed or namespace_selector is not None else frozenset((namespace,))
    selector = _match_label_keys(term, labels)
    return AffinityTerm(
        namespaces=namespaces,
        namespace_selector=pod_selector(namespace_selector),
        selector=pod_selector(selector),
        topology_key=term.get("topologyKey", ""),
        key=canonical([sorted(namespaces), namespace_selector, selector, term.get("topologyKey", "")]),
    )


@lru_cache(maxsize=8192)
def _affinity_terms(key: bytes) -> AffinityTerms:
    affinity, namespace, labels = orjson.loads(key)
    together, apart = affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}
    required, preferred = (
        "requiredDuringSchedulingIgnoredDuringExecution",
        "preferredDuringSchedulingIgnoredDuringExecution",
    )

    def hard(side: Object) -> tuple[AffinityTerm, ...]:
        return tuple(_term(t, namespace, labels) for t in side.get(required) or ())

    def soft(side: Object) -> tuple[WeightedTerm, ...]:
        return tuple(
            WeightedTerm(_term(t["podAffinityTerm"], namespace, labels), t.get("weight", 0))
            for t in side.get(preferred) or ()
        )

    return AffinityTerms(hard(together), hard(apart), soft(together), soft(apart))


def affinity_terms(pod: Object) -> AffinityTerms:
    affinity = pod["spec"].get("affinity")
    if not affinity or not (affinity.get("podAffinity") or affinity.get("podAntiAffinity")):
        return _NO_TERMS
    metadata = pod["metadata"]
    sides = {k: affinity[k] for k in ("podAffinity", "podAntiAffinity") if affinity.get(k)}
    return _affinity_terms(canonical([sides, metadata.get("namespace", ""), metadata.get("labels") or {}]))


class HostPort(NamedTuple):
    ip: str
    protocol: str
    port: int


def host_ports(pod: Object) -> tuple[HostPort, ...]:
    """The ports of the node that the pod's containers and sidecars take (schedutil.GetHostPorts)."""
    spec = pod["spec"]
    sidecars = [c for c in spec.get("initContainers") or () if c.get("restartPolicy") == "Always"]
    return tuple(
        HostPort(p.get("hostIP") or "0.0.0.0", p.get("protocol") or "TCP", p["hostPort"])
        for container in (*(spec.get("containers") or ()), *sidecars)
        for p in container.get("ports") or ()
        if p.get("hostPort")
    )


def claim_keys(pod: Object) -> tuple[str, ...]:
    """`namespace/name` of every PersistentVolumeClaim that the pod uses, generic ephemeral ones included."""
    metadata = pod["metadata"]
    names = []
    for volume in pod["spec"].get("volumes") or ():
        if claim := volume.get("persistentVolumeClaim"):
            names.append(claim.get("claimName", ""))
        elif volume.get("ephemeral"):
            names.append(f"{metadata['name']}-{volume['name']}")
    return tuple(f"{metadata.get('namespace', '')}/{name}" for name in names)


class LabelGroup(NamedTuple):
    """Pods that no rule about pods can tell apart."""

    namespace: str
    labels: tuple[tuple[str, str], ...]
    terminating: bool = False


class PodInfo:
    """A pod and what is derived from it. Never changed: an update of the pod makes a new one."""

    __slots__ = (
        "claims",
        "has_affinity",
        "host_ports",
        "inline_disks",
        "key",
        "label_group",
        "labels",
        "name",
        "namespace",
        "node_name",
        "non_zero_cpu",
        "non_zero_memory",
        "pod",
        "preferred_affinity",
        "preferred_anti_affinity",
        "priority",
        "request",
        "required_affinity",
        "required_anti_affinity",
        "scheduler_name",
        "terminating",
        "uid",
    )

    def __init__(self, pod: Object, node_name: str | None = None) -> None:
        metadata, spec = pod["metadata"], pod["spec"]
        self.pod = pod
        self.name: str = metadata["name"]
        self.namespace: str = metadata.get("namespace", "")
        self.key = f"{self.namespace}/{self.name}"
        self.uid: str = metadata.get("uid") or self.key
        self.labels: dict[str, str] = metadata.get("labels") or {}
        self.terminating = bool(metadata.get("deletionTimestamp"))
        self.label_group = LabelGroup(self.namespace, tuple(sorted(self.labels.items())), self.terminating)
        self.priority: int = spec.get("priority") or 0
        self.scheduler_name: str = spec.get("schedulerName") or DEFAULT_SCHEDULER_NAME
        self.node_name: str = spec.get("nodeName") or "" if node_name is None else node_name
        self.request, self.non_zero_cpu, self.non_zero_memory = requests_of(pod)
        affinity = spec.get("affinity") or {}
        self.has_affinity = bool(affinity.get("podAffinity") or affinity.get("podAntiAffinity"))
        (
            self.required_affinity,
            self.required_anti_affinity,
            self.preferred_affinity,
            self.preferred_anti_affinity,
        ) = affinity_terms(pod)
        self.host_ports = host_ports(pod)
        self.claims = claim_keys(pod) if spec.get("volumes") else ()
        self.inline_disks: dict[str, str] = {}  # their drivers: what the pod itself names, without a claim
        for volume in spec.get("volumes") or ():
            self.inline_disks.update(limited_volume(volume))

    def assumed_on(self, node_name: str) -> PodInfo:
        """The same pod as if it were bound to a node."""
        assumed = PodInfo.__new__(PodInfo)
        for slot in PodInfo.__slots__:
            setattr(assumed, slot, getattr(self, slot))
        assumed.node_name = node_name
        return assumed

    def is_same_as(self, pod: Object) -> bool:
        """Whether a version of a pod is of this one, and not of another that took its name."""
        return self.uid == (pod["metadata"].get("uid") or self.key)

    @property
    def spec(self) -> Object:
        spec: Object = self.pod["spec"]
        return spec

    @property
    def status(self) -> Object:
        return self.pod.get("status") or {}

    @property
    def tolerations(self) -> list[Object]:
        return self.pod["spec"].get("tolerations") or []

    @property
    def nominated_node_name(self) -> str:
        return (self.pod.get("status") or {}).get("nominatedNodeName") or ""

    @property
    def start_time(self) -> str:
        """status.startTime, or "" for a pod that no kubelet has seen (which then counts as the newest)."""
        return (self.pod.get("status") or {}).get("startTime") or ""

    @property
    def terminal(self) -> bool:
        return (self.pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")

    def __repr__(self) -> str:
        return f"<PodInfo {self.key} on {self.node_name or 'no node'}>"
