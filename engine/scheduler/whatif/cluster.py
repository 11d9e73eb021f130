"""The objects of a cluster as a what-if holds them: read from a dump or from a live API, found as listers find them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.api.decoding import decode
from engine.api.errors import ApiError
from engine.api.persistent_volumes import CLAIMS, STORAGE_CLASSES, VOLUMES
from engine.api.schema import Definitions, load_definitions
from engine.api.types import GVK, GVR, NAMESPACES, NODES, PODS, REPLICA_SETS, SERVICES, Object
from engine.client import Client
from engine.client.indexer import join_key, object_key
from engine.scheduler.plugins.default_preemption import POD_DISRUPTION_BUDGETS
from engine.scheduler.plugins.migrated_topology import CSI_NODES
from engine.scheduler.plugins.node_volume_limits import VOLUME_ATTACHMENTS
from engine.scheduler.plugins.resource_claims import (
    DEVICE_CLASSES,
    DEVICE_TAINT_RULES,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
)
from engine.scheduler.plugins.spread_constraints import REPLICATION_CONTROLLERS, STATEFUL_SETS
from engine.scheduler.plugins.volume_binding import CSI_DRIVERS, CSI_STORAGE_CAPACITIES
from engine.scheduler.whatif.older_versions import of_today
from engine.scheduler.whatif.zero_values import with_zero_values

PRIORITY_CLASSES = GVR("scheduling.k8s.io", "v1", "priorityclasses")
RUNTIME_CLASSES = GVR("node.k8s.io", "v1", "runtimeclasses")
LIMIT_RANGES = GVR("", "v1", "limitranges")
RESOURCE_CLAIM_TEMPLATES = GVR("resource.k8s.io", "v1", "resourceclaimtemplates")

# All that a decision may depend on, by group and kind.
RESOURCES: dict[tuple[str, str], GVR] = {
    ("", "Node"): NODES,
    ("", "Pod"): PODS,
    ("", "Namespace"): NAMESPACES,
    ("", "Service"): SERVICES,
    ("", "ReplicationController"): REPLICATION_CONTROLLERS,
    ("apps", "ReplicaSet"): REPLICA_SETS,
    ("apps", "StatefulSet"): STATEFUL_SETS,
    ("policy", "PodDisruptionBudget"): POD_DISRUPTION_BUDGETS,
    ("", "PersistentVolumeClaim"): CLAIMS,
    ("", "PersistentVolume"): VOLUMES,
    ("storage.k8s.io", "StorageClass"): STORAGE_CLASSES,
    ("storage.k8s.io", "CSINode"): CSI_NODES,
    ("storage.k8s.io", "CSIDriver"): CSI_DRIVERS,
    ("storage.k8s.io", "CSIStorageCapacity"): CSI_STORAGE_CAPACITIES,
    ("storage.k8s.io", "VolumeAttachment"): VOLUME_ATTACHMENTS,
    ("scheduling.k8s.io", "PriorityClass"): PRIORITY_CLASSES,
    ("node.k8s.io", "RuntimeClass"): RUNTIME_CLASSES,
    ("", "LimitRange"): LIMIT_RANGES,
    ("resource.k8s.io", "ResourceClaim"): RESOURCE_CLAIMS,
    ("resource.k8s.io", "ResourceClaimTemplate"): RESOURCE_CLAIM_TEMPLATES,
    ("resource.k8s.io", "ResourceSlice"): RESOURCE_SLICES,
    ("resource.k8s.io", "DeviceClass"): DEVICE_CLASSES,
    ("resource.k8s.io", "DeviceTaintRule"): DEVICE_TAINT_RULES,
}
# How to take a dump of them all but devices, which not every cluster has; with Jobs, by which Pods are found.
TAKE_DUMP = (
    "kubectl get nodes,pods,ns,svc,rs,deploy,sts,rc,jobs,pdb,pvc,pv,sc,csinodes,csidrivers,csistoragecapacities,"
    "volumeattachments,priorityclasses,runtimeclasses,limits -A -o yaml"
)
# What a dump lacks where it was taken with `kubectl get nodes,pods`: classes that every cluster has.
_BUILT_IN_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
# Namespaces that cannot be deleted (the admission plugin NamespaceLifecycle).
_IMMORTAL = frozenset(("default", "kube-system", "kube-public"))
_CLUSTER_SCOPED = frozenset(
    (
        NODES,
        NAMESPACES,
        VOLUMES,
        STORAGE_CLASSES,
        CSI_NODES,
        CSI_DRIVERS,
        VOLUME_ATTACHMENTS,
        PRIORITY_CLASSES,
        RUNTIME_CLASSES,
        RESOURCE_SLICES,
        DEVICE_CLASSES,
        DEVICE_TAINT_RULES,
    )
)


class DumpError(ValueError):
    """A dump that nothing can be scheduled on; the message says what is wrong with it."""


def group_kind(obj: Object) -> tuple[str, str]:
    group, slash, _ = str(obj.get("apiVersion", "")).partition("/")
    return (group if slash else ""), str(obj.get("kind", ""))


def _read(definitions: Definitions, obj: Object, resource: GVR, kind: str) -> Object:
    """The object as the API server would hold it: in our version, of the right types, without nulls and what is not
    known. Raises DumpError."""
    name = obj["metadata"]["name"]
    try:
        ours = of_today(obj, resource.api_version)
        gvk = GVK(resource.group, resource.version, kind)
        obj = decode(definitions, gvk, ours).object
    except ApiError as failure:
        raise DumpError(f"{kind} {name}: {failure.message}") from None
    if resource == PODS and not obj.get("spec"):
        raise DumpError(f"Pod {name}: spec: Required value")
    schema = definitions.kind(gvk)
    filled: Object = with_zero_values(schema, obj) if schema is not None else obj
    return filled


class ObjectTable:
    """Objects of one resource, by key and by namespace (the part of a Lister that plugins use)."""

    def __init__(self) -> None:
        self._objects: dict[str, Object] = {}
        self._by_namespace: dict[str, dict[str, Object]] = {}

    def put(self, obj: Object) -> None:
        key = object_key(obj)
        self._objects[key] = obj
        self._by_namespace.setdefault(obj["metadata"].get("namespace", ""), {})[key] = obj

    def remove(self, obj: Object) -> None:
        key = object_key(obj)
        self._objects.pop(key, None)
        self._by_namespace.get(obj["metadata"].get("namespace", ""), {}).pop(key, None)

    def get(self, name: str, namespace: str = "") -> Object | None:
        return self._objects.get(join_key(namespace, name))

    def list(self, namespace: str = "") -> list[Object]:
        return list((self._by_namespace.get(namespace, {}) if namespace else self._objects).values())


class ClusterObjects:
    """A cluster's objects by resource. `skipped` counts, by kind, what was given and means nothing to a scheduler."""

    def __init__(self, objects: Iterable[Object] = (), *, definitions: Definitions | None = None) -> None:
        """With `definitions` what is added is read as the API server would: it may be anything that a file holds."""
        self._definitions = definitions
        self._tables: dict[GVR, ObjectTable] = {resource: ObjectTable() for resource in RESOURCES.values()}
        self.skipped: dict[str, int] = {}
        for obj in objects:
            self.add(obj)

    @classmethod
    def of_dump(cls, objects: Iterable[Object]) -> ClusterObjects:
        """What `kubectl get nodes,pods,... -A -o yaml` printed. Raises DumpError."""
        made = cls(objects, definitions=load_definitions())
        if not made.lister(NODES).list():
            raise DumpError(f'there are no Nodes in the dump: take it with "{TAKE_DUMP}"')
        return made

    @classmethod
    async def of_api(cls, client: Client) -> ClusterObjects:
        """All that a running cluster has of these resources; what it does not serve, or not to us, is left out."""
        made = cls()
        for (_, kind), resource in RESOURCES.items():
            try:
                listed = await client.list(resource)
            except ApiError as refused:
                if refused.code not in (403, 404) or resource in (NODES, PODS):
                    raise
                continue
            for item in listed.items:
                made.add({"apiVersion": resource.api_version, "kind": kind, **item})
        return made

    def add(self, obj: Object, namespace: str = "default") -> bool:
        """Add or replace an object, in this namespace if it names none; False for one that no decision depends on.
        Raises DumpError."""
        kind = group_kind(obj)
        resource = RESOURCES.get(kind)
        if resource is None:
            self.skipped[kind[1]] = self.skipped.get(kind[1], 0) + 1
            return False
        metadata = obj.get("metadata")
        if not isinstance(metadata, dict) or not metadata.get("name"):
            raise DumpError(f"a {kind[1]} has no metadata.name")
        if self._definitions is not None:
            obj = _read(self._definitions, obj, resource, kind[1])
        metadata = obj["metadata"]
        if resource not in _CLUSTER_SCOPED and not metadata.get("namespace"):
            obj = {**obj, "metadata": {**metadata, "namespace": namespace}}
        self._tables[resource].put(obj)
        return True

    def read_workload(self, obj: Object) -> Object:
        """A workload as the API server would take it in; as it is where nothing needs to be read. Raises DumpError."""
        if self._definitions is None:
            return obj
        (group, kind), name = group_kind(obj), obj["metadata"].get("name") or obj["metadata"].get("generateName", "")
        try:
            decoded = decode(self._definitions, GVK(group, "v1", kind), obj)
        except ApiError as failure:
            raise DumpError(f"{kind} {name}: {failure.message}") from None
        if decoded.unknown:
            raise DumpError(f"{kind} {name}: strict decoding error: {', '.join(decoded.unknown)}")
        return decoded.object

    def remove(self, obj: Object) -> None:
        if (resource := RESOURCES.get(group_kind(obj))) is not None:
            self._tables[resource].remove(obj)

    def lister(self, resource: GVR) -> ObjectTable:
        found = self._tables.get(resource)
        if found is None:
            found = self._tables[resource] = ObjectTable()
        return found

    def priority(self, name: str) -> tuple[int, str] | None:
        """Value and preemption policy of a PriorityClass; None if there is no such class."""
        found = self.lister(PRIORITY_CLASSES).get(name)
        if found is not None:
            return int(found.get("value", 0)), found.get("preemptionPolicy") or "PreemptLowerPriority"
        return (_BUILT_IN_PRIORITIES[name], "PreemptLowerPriority") if name in _BUILT_IN_PRIORITIES else None

    def default_priority(self) -> tuple[str, int, str]:
        """The global default; of several that of the lowest value."""
        defaults = [c for c in self.lister(PRIORITY_CLASSES).list() if c.get("globalDefault")]
        if not defaults:
            return "", 0, "PreemptLowerPriority"
        lowest = min(defaults, key=lambda found: int(found.get("value", 0)))
        policy = lowest.get("preemptionPolicy") or "PreemptLowerPriority"
        return lowest["metadata"]["name"], int(lowest.get("value", 0)), policy

    def may_have_namespace(self, name: str) -> bool:
        """Whether a namespace is there, as far as that is known: a dump may have no Namespaces, or only some."""
        known = self.lister(NAMESPACES)
        if name in _IMMORTAL or known.get(name) is not None or not known.list():
            return True
        return bool(self.lister(PODS).list(name))

    def pending_pods(self) -> list[Object]:
        """Pods that wait for a node, in the order of their priority and age."""
        waiting = [
            pod
            for pod in self.lister(PODS).list()
            if not pod["spec"].get("nodeName")
            and not pod["metadata"].get("deletionTimestamp")
            and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
        ]

        def place(pod: Object) -> tuple[int, str]:
            return -int(pod["spec"].get("priority") or 0), str(pod["metadata"].get("creationTimestamp") or "")

        return sorted(waiting, key=place)

    def __iter__(self) -> Iterator[Object]:
        for table in self._tables.values():
            yield from table.list()
