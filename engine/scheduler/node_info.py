"""A node with the pods on it and their sums (framework.NodeInfo)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import count
from typing import TypeVar

from engine.api.types import Object
from engine.scheduler.pod_info import AffinityTerm, HostPort, LabelGroup, PodInfo, WeightedTerm
from engine.scheduler.resource import Resource, amounts

_ANY_IP = "0.0.0.0"
K = TypeVar("K")
KEPT_SHAPES = 16_384
_SHAPES: dict[Hashable, int] = {}
_NUMBERS = count(1)


def _count(counts: dict[K, int], key: K, sign: int) -> None:
    left = counts.get(key, 0) + sign
    if left > 0:
        counts[key] = left
    else:
        counts.pop(key, None)


class HostPorts:
    """The host ports in use on a node, by address (framework.HostPortInfo)."""

    __slots__ = ("_used",)

    def __init__(self, used: dict[HostPort, int] | None = None) -> None:
        self._used: dict[HostPort, int] = used or {}

    def copy(self) -> HostPorts:
        return HostPorts(dict(self._used))

    def add(self, port: HostPort, sign: int = 1) -> None:
        _count(self._used, port, sign)

    def conflicts(self, port: HostPort) -> bool:
        """Whether the port is taken: on the same address, or on any address where one of the two is the wildcard."""
        return any(
            used.port == port.port
            and used.protocol == port.protocol
            and (_ANY_IP in (used.ip, port.ip) or used.ip == port.ip)
            for used in self._used
        )

    def __bool__(self) -> bool:
        return bool(self._used)


class NodeInfo:
    """`node` is None while pods of a node are known that is not (it was deleted, or its pods came first)."""

    __slots__ = (
        "allocatable",
        "anti_affinity_terms",
        "images",
        "inline_disks",
        "label_counts",
        "labels",
        "name",
        "node",
        "non_zero_cpu",
        "non_zero_memory",
        "pods",
        "pods_with_affinity",
        "ports",
        "requested",
        "shape_id",
        "used_claims",
        "wishes",
    )

    def __init__(self, name: str, node: Object | None = None, pods: Iterable[PodInfo] = ()) -> None:
        self.name = name
        self.node: Object | None = None
        self.labels: dict[str, str] = {}
        self.allocatable = Resource()
        self.images: dict[str, int] = {}
        self.requested = Resource()
        self.non_zero_cpu = 0
        self.non_zero_memory = 0
        self.pods: dict[str, PodInfo] = {}  # by uid
        self.pods_with_affinity: dict[str, PodInfo] = {}
        self.ports = HostPorts()
        self.used_claims: dict[str, int] = {}
        self.inline_disks: dict[str, int] = {}
        self.shape_id = 0  # 0 until somebody asks for `shape`
        self.label_counts: dict[LabelGroup, int] = {}
        self.anti_affinity_terms: dict[AffinityTerm, int] = {}  # required by pods here
        # What pods here would like of others: preferred affinity by its weight, preferred anti-affinity by its weight
        # below zero, required affinity by zero (its weight is the plugin's to choose).
        self.wishes: dict[WeightedTerm, int] = {}
        if node is not None:
            self.set_node(node)
        for pod in pods:
            self.add_pod(pod)

    def set_node(self, node: Object) -> None:
        self.node = node
        self.labels = node["metadata"].get("labels") or {}
        self.allocatable = Resource.of(amounts((node.get("status") or {}).get("allocatable")))
        self.shape_id = 0

    def remove_node(self) -> None:
        self.node = None

    @property
    def taints(self) -> list[Object]:
        return ((self.node or {}).get("spec") or {}).get("taints") or []

    @property
    def unschedulable(self) -> bool:
        return bool(((self.node or {}).get("spec") or {}).get("unschedulable"))

    def add_pod(self, pod: PodInfo) -> None:
        if (present := self.pods.get(pod.uid)) is not None:
            self.remove_pod(present)
        self.pods[pod.uid] = pod
        if pod.has_affinity:
            self.pods_with_affinity[pod.uid] = pod
        self._book(pod, 1)

    def remove_pod(self, pod: PodInfo) -> bool:
        """Take a pod away; False if it is not here."""
        present = self.pods.pop(pod.uid, None)
        if present is None:
            return False
        self.pods_with_affinity.pop(pod.uid, None)
        self._book(present, -1)
        return True

    def _book(self, pod: PodInfo, sign: int) -> None:
        self.shape_id = 0
        self.requested.add(pod.request, sign)
        self.non_zero_cpu += sign * pod.non_zero_cpu
        self.non_zero_memory += sign * pod.non_zero_memory
        _count(self.label_counts, pod.label_group, sign)
        if pod.has_affinity:
            self._book_terms(pod, sign)
        for port in pod.host_ports:
            self.ports.add(port, sign)
        for claim in pod.claims:
            _count(self.used_claims, claim, sign)
        for disk in pod.inline_disks:
            _count(self.inline_disks, disk, sign)

    def _book_terms(self, pod: PodInfo, sign: int) -> None:
        for term in pod.required_anti_affinity:
            _count(self.anti_affinity_terms, term, sign)
        for term in pod.required_affinity:
            _count(self.wishes, WeightedTerm(term, 0), sign)
        for term, weight in pod.preferred_affinity:
            _count(self.wishes, WeightedTerm(term, weight), sign)
        for term, weight in pod.preferred_anti_affinity:
            _count(self.wishes, WeightedTerm(term, -weight), sign)

    def copy(self) -> NodeInfo:
        """A copy whose pods can be changed without changing this one."""
        twin = NodeInfo.__new__(NodeInfo)
        twin.name, twin.node, twin.labels = self.name, self.node, self.labels
        twin.allocatable, twin.images = self.allocatable, self.images
        twin.shape_id = self.shape_id
        twin.requested = self.requested.copy()
        twin.non_zero_cpu, twin.non_zero_memory = self.non_zero_cpu, self.non_zero_memory
        twin.pods = dict(self.pods)
        twin.pods_with_affinity = dict(self.pods_with_affinity)
        twin.ports = self.ports.copy()
        twin.used_claims = dict(self.used_claims)
        twin.inline_disks = dict(self.inline_disks)
        twin.label_counts = dict(self.label_counts)
        twin.anti_affinity_terms = dict(self.anti_affinity_terms)
        twin.wishes = dict(self.wishes)
        return twin

    @property
    def shape(self) -> int:
        """The same number for nodes that are as big and as full of pods of the same priorities, ages and requests, in
        the same order. Requests are shared, and so are told by identity."""
        if not self.shape_id:
            has = self.allocatable
            key = (
                (has.milli_cpu, has.memory, has.ephemeral_storage, has.allowed_pods, *has.scalar.items()),
                tuple([(other.priority, other.start_time, other.request) for other in self.pods.values()]),
            )
            self.shape_id = _SHAPES.setdefault(key, next(_NUMBERS))
            if len(_SHAPES) > KEPT_SHAPES:
                _SHAPES.clear()
        return self.shape_id

    def room(self) -> NodeRoom:
        """A copy that keeps count of what pods request, and of nothing else about them."""
        twin = NodeRoom.__new__(NodeRoom)
        twin.name, twin.node, twin.labels, twin.allocatable = self.name, self.node, self.labels, self.allocatable
        twin.shape_id = 0
        twin.requested = self.requested.copy()
        twin.pods = dict(self.pods)
        twin.pods_with_affinity = {}
        return twin

    def __repr__(self) -> str:
        return f"<NodeInfo {self.name} with {len(self.pods)} pods>"


class NodeRoom(NodeInfo):
    """For filters that ask of a node's pods only how much they request."""

    __slots__ = ()

    def _book(self, pod: PodInfo, sign: int) -> None:
        self.requested.add(pod.request, sign)
