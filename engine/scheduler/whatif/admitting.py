"""A Pod as it would be once the API server had taken it in: defaults, priority, runtime class, LimitRange defaults.

Source: pkg/apis/core/v1/defaults.go and the admission plugins NamespaceLifecycle, Priority, RuntimeClass,
LimitRanger and DefaultTolerationSeconds. Nothing is refused here for a quota or a policy: the question is where a Pod
would run.
"""

from __future__ import annotations

from engine.api.decoding import decode
from engine.api.defaults import apply_defaults
from engine.api.errors import ApiError
from engine.api.resources import ResourceRegistry
from engine.api.schema import load_definitions
from engine.api.types import GVK, NAMESPACES, Object, copy_object
from engine.scheduler.whatif.cluster import LIMIT_RANGES, RUNTIME_CLASSES, ClusterObjects, DumpError

POD = GVK("", "v1", "Pod")
_EVICTING = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_TOLERATION_SECONDS = 300


class Admission:
    def __init__(self, cluster: ClusterObjects, version: str = "") -> None:
        self._cluster = cluster
        self._definitions = load_definitions(version)
        info = ResourceRegistry.for_version(version).by_kind(POD)
        assert info is not None
        self._info = info

    def admit(self, pod: Object) -> Object:
        """A copy of the Pod, filled in. Raises DumpError for one that is no Pod, or names what is not there."""
        name = pod.get("metadata", {}).get("name") or pod.get("metadata", {}).get("generateName", "")
        try:
            decoded = decode(self._definitions, POD, {"apiVersion": "v1", "kind": "Pod", **pod})
        except ApiError as failure:
            raise DumpError(failure.message) from failure
        if decoded.unknown:
            raise DumpError(f"Pod {name}: strict decoding error: {', '.join(decoded.unknown)}")
        made = copy_object(decoded.object)
        spec, metadata = made.get("spec"), made.setdefault("metadata", {})
        if not isinstance(spec, dict) or not spec.get("containers"):
            raise DumpError(f"Pod {name}: spec.containers: Required value")
        metadata.setdefault("namespace", "default")
        metadata.setdefault("uid", f"{metadata['namespace']}/{metadata.get('name', '')}")
        self._require_namespace(made["metadata"])
        self._set_runtime_class(made)
        self._set_priority(made)
        self._set_limits(made)
        apply_defaults(self._info, made)
        _set_tolerations(made)
        return made

    def _require_namespace(self, metadata: Object) -> None:
        name = metadata["namespace"]
        if not self._cluster.may_have_namespace(name):
            raise DumpError(f'namespaces "{name}" not found')
        found = self._cluster.lister(NAMESPACES).get(name)
        if found is not None and (found.get("status") or {}).get("phase") == "Terminating":
            raise DumpError(
                f'pods "{metadata.get("name", "")}" is forbidden: unable to create new content in namespace {name} '
                "because it is being terminated"
            )

    def _set_priority(self, pod: Object) -> None:
        spec = pod["spec"]
        if spec.get("priority") is not None:
            return
        name = spec.get("priorityClassName", "")
        if not name:
            name, value, policy = self._cluster.default_priority()
        else:
            found = self._cluster.priority(name)
            if found is None:
                raise DumpError(f"Pod {pod['metadata'].get('name', '')}: no PriorityClass with name {name} was found")
            value, policy = found
        if name:
            spec["priorityClassName"] = name
        spec["priority"] = value
        spec.setdefault("preemptionPolicy", policy)

    def _set_runtime_class(self, pod: Object) -> None:
        """Overhead and scheduling of the Pod's runtime class (KEP 688, KEP 894)."""
        spec = pod["spec"]
        name = spec.get("runtimeClassName")
        if not name:
            return
        found = self._cluster.lister(RUNTIME_CLASSES).get(name)
        if found is None:
            raise DumpError(f'Pod {pod["metadata"].get("name", "")}: pod rejected: RuntimeClass "{name}" not found')
        if (overhead := (found.get("overhead") or {}).get("podFixed")) and "overhead" not in spec:
            spec["overhead"] = overhead
        scheduling = found.get("scheduling") or {}
        if wanted := scheduling.get("nodeSelector"):
            spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **wanted}
        present = spec.get("tolerations") or []
        if added := [t for t in scheduling.get("tolerations") or () if t not in present]:
            spec["tolerations"] = [*present, *added]

    def _set_limits(self, pod: Object) -> None:
        for found in self._cluster.lister(LIMIT_RANGES).list(pod["metadata"]["namespace"]):
            for limit in (found.get("spec") or {}).get("limits") or ():
                if limit.get("type") == "Container":
                    _fill(pod, limit)


def _fill(pod: Object, limit: Object) -> None:
    for container in (*pod["spec"]["containers"], *(pod["spec"].get("initContainers") or ())):
        resources = container.setdefault("resources", {})
        for part, source in (("requests", "defaultRequest"), ("limits", "default")):
            if defaults := limit.get(source):
                resources[part] = {**defaults, **(resources.get(part) or {})}


def _set_tolerations(pod: Object) -> None:
    present = pod["spec"].get("tolerations") or []
    missing = [
        key
        for key in _EVICTING
        if not any(t.get("key", "") in ("", key) and t.get("effect", "") in ("", "NoExecute") for t in present)
    ]
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _TOLERATION_SECONDS}
        for key in missing
    ]
    pod["spec"]["tolerations"] = [*present, *added]
