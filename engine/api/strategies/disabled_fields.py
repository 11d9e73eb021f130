"""What an API server drops of an object because the feature that it is for is off by default.

Only gates as they are set from the start count: on since a release, or off in all of them. What an object has already
it keeps, as upstream does after a gate was turned off. Sources: pkg/api/pod/util.go (dropDisabledFields),
pkg/api/persistentvolumeclaim/util.go, pkg/registry/core/node/strategy.go; the releases are those of the table of
feature gates in upstream's documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from engine.api.resource_table import RESOURCE
from engine.api.resources import ResourceInfo
from engine.api.strategies.device_gates import DEVICE_GATES
from engine.api.strategies.field_gates import NEVER, Gate, Place, Places, gate, named
from engine.api.strategies.kind_gates import OBJECT_GATES, SPEC_GATES, STATUS_GATES
from engine.api.types import Object

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


class _Off(NamedTuple):
    """The gates that a release has off, and all names of theirs."""

    gates: tuple[Gate, ...]
    names: frozenset[str]


def drop_disabled_fields(info: ResourceInfo, new: Object, old: Object | None = None) -> None:
    """Changes `new`, which is the caller's own; `old` is what it replaces."""
    kind = (info.gvr.group, info.kind)
    if path := _POD_SPECS.get(kind):
        _drop(_off(info.release, _POD_GATES), _at(new, path), _at(old or {}, path))
    if gates := _GATES.get(kind):
        _drop(_off(info.release, gates), new.get("spec") or {}, (old or {}).get("spec") or {})
    elif gates := _WHOLE_GATES.get(kind):
        _drop(_off(info.release, gates), new, old or {})


def drop_disabled_status_fields(info: ResourceInfo, new: Object, old: Object) -> None:
    """The same of a status that is updated; what a claim got is looked at with what it asks for."""
    kind = (info.gvr.group, info.kind)
    if gates := STATUS_GATES.get(kind):
        _drop(_off(info.release, gates), new.get("status") or {}, old.get("status") or {})
    elif kind == (RESOURCE, "ResourceClaim"):
        drop_disabled_fields(info, new, old)


def _at(obj: Object, path: tuple[str, ...]) -> Object:
    for name in path:
        obj = obj.get(name) or {}
    return obj


@lru_cache(maxsize=64)
def _off(release: tuple[int, int], gates: tuple[Gate, ...]) -> _Off:
    off = tuple(each for each in gates if release < each.since)
    return _Off(off, frozenset().union(*(each.names for each in off)))


def _drop(off: _Off, spec: Object, before: Object) -> None:
    """Hardly any object has a field of a feature that is off: one look through it comes first."""
    found = _names_in(spec, off.names) if off.names else None
    if not found:
        return
    for each in off.gates:
        if each.names.isdisjoint(found) or any(True for _ in each.places(before)):
            continue
        for holder, field in list(each.places(spec)):
            del holder[field]
    for container in _containers(spec):
        if container.get("lifecycle") == {}:
            del container["lifecycle"]


def _names_in(spec: Object, names: frozenset[str]) -> set[str]:
    """Which of the names a field has, at any depth."""
    found: set[str] = set()
    holders: list[Any] = [spec]
    for holder in holders:
        if isinstance(holder, dict):
            if not names.isdisjoint(holder):
                found |= names & holder.keys()
            holders += [value for value in holder.values() if value.__class__ is dict or value.__class__ is list]
        elif isinstance(holder, list):
            holders += holder
    return found


# -- where the fields of a Pod are


def _containers(spec: Object, *fields: str) -> Iterator[Object]:
    for field in fields or _CONTAINERS:
        yield from spec.get(field) or ()


def _of_pods(*fields: str) -> Places:
    return lambda spec: named((spec,), *fields)


def _of_security(field: str) -> Places:
    return lambda spec: named((spec.get("securityContext"),), field)


def _of_containers(field: str) -> Places:
    return lambda spec: named(_containers(spec), field)


def _of_mounts(field: str) -> Places:
    return lambda spec: named((mount for each in _containers(spec) for mount in each.get("volumeMounts") or ()), field)


def _of_spread(*fields: str) -> Places:
    return lambda spec: named(spec.get("topologySpreadConstraints") or (), *fields)


def _of_volumes(field: str) -> Places:
    return lambda spec: named(spec.get("volumes") or (), field)


def _of_projections(field: str) -> Places:
    return lambda spec: named(_projections(spec), field)


def _projections(spec: Object) -> Iterator[Object]:
    for volume in spec.get("volumes") or ():
        yield from (volume.get("projected") or {}).get("sources") or ()


def _claims(spec: Object) -> Iterator[Place]:
    if spec.get("resourceClaims"):
        yield spec, "resourceClaims"
    yield from named((each.get("resources") for each in _containers(spec)), "claims")


def _max_unavailable(spec: Object) -> Iterator[Place]:
    return named(((spec.get("updateStrategy") or {}).get("rollingUpdate"),), "maxUnavailable")


def _affinity_keys(spec: Object) -> Iterator[Place]:
    for side in ("podAffinity", "podAntiAffinity"):
        terms = (spec.get("affinity") or {}).get(side) or {}
        required = terms.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        preferred = terms.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        found = (*required, *(term.get("podAffinityTerm") for term in preferred))
        yield from named(found, "matchLabelKeys", "mismatchLabelKeys")


def _sidecars(spec: Object) -> Iterator[Place]:
    return named(_containers(spec, "initContainers"), "restartPolicy")


def _restart_rules(spec: Object) -> Iterator[Place]:
    yield from named(_containers(spec), "restartPolicyRules")
    yield from named(_containers(spec, "containers", "ephemeralContainers"), "restartPolicy")
    others = (each for each in _containers(spec, "initContainers") if each.get("restartPolicy") != "Always")
    yield from named(others, "restartPolicy")


def _file_keys(spec: Object) -> Iterator[Place]:
    variables = (variable for each in _containers(spec) for variable in each.get("env") or ())
    return named((variable.get("valueFrom") for variable in variables), "fileKeyRef")


def _stop_signals(spec: Object) -> Iterator[Place]:
    return named((each.get("lifecycle") for each in _containers(spec)), "stopSignal")


def _sleeps(spec: Object) -> Iterator[Place]:
    """Whole handlers: one that sleeps does nothing else."""
    for container in _containers(spec):
        hooks = container.get("lifecycle") or {}
        yield from ((hooks, hook) for hook in ("preStop", "postStart") if "sleep" in (hooks.get(hook) or {}))


def _handlers(spec: Object) -> Iterator[Object]:
    for container in _containers(spec):
        yield from (
            container[probe] for probe in ("livenessProbe", "readinessProbe", "startupProbe") if container.get(probe)
        )
        hooks = container.get("lifecycle") or {}
        yield from (hooks[hook] for hook in ("postStart", "preStop") if hooks.get(hook))


def _http_protocols(spec: Object) -> Iterator[Place]:
    return named((handler.get("httpGet") for handler in _handlers(spec)), "protocol")


def _grpc_modes(spec: Object) -> Iterator[Place]:
    return named((handler.get("grpc") for handler in _handlers(spec)), "mode")


def _directory_modes(spec: Object) -> Iterator[Place]:
    return named((volume.get("emptyDir") for volume in spec.get("volumes") or ()), "mode")


def _file_owners(spec: Object) -> Iterator[Place]:
    for volume in spec.get("volumes") or ():
        sources = [volume.get(kind) for kind in ("configMap", "secret", "downwardAPI", "projected")]
        yield from named(sources, "defaultUser")
        for source in filter(None, sources):
            yield from named(source.get("items") or (), "user")
    for projection in _projections(spec):
        kinds = ("serviceAccountToken", "clusterTrustBundle", "podCertificate")
        yield from named((projection.get(kind) for kind in kinds), "user")
        for kind in ("configMap", "secret", "downwardAPI"):
            yield from named((projection.get(kind) or {}).get("items") or (), "user")


def _foreign_source(spec: Object) -> Iterator[Place]:
    """Of a claim: what it is to be filled from, if that is in another namespace."""
    if (spec.get("dataSourceRef") or {}).get("namespace"):
        yield spec, "dataSourceRef"


def _simple(since: tuple[int, int], of: Callable[..., Places], *fields: str) -> Gate:
    return gate(since, of(*fields), *fields)


_POD_GATES = (
    _simple((1, 26), _of_spread, "nodeAffinityPolicy", "nodeTaintsPolicy"),
    _simple((1, 27), _of_spread, "matchLabelKeys"),
    _simple((1, 27), _of_pods, "schedulingGates"),
    gate((1, 29), _sidecars, "restartPolicy"),
    gate((1, 30), _sleeps, "sleep"),
    gate((1, 31), _affinity_keys, "matchLabelKeys", "mismatchLabelKeys"),
    _simple((1, 31), _of_mounts, "recursiveReadOnly"),
    _simple((1, 33), _of_pods, "hostUsers"),
    _simple((1, 33), _of_security, "supplementalGroupsPolicy"),
    _simple((1, 33), _of_security, "seLinuxChangePolicy"),
    _simple((1, 33), _of_containers, "resizePolicy"),
    _simple((1, 34), _of_pods, "resources"),
    gate((1, 34), _claims, "resourceClaims", "claims"),
    _simple((1, 35), _of_pods, "hostnameOverride"),
    gate((1, 35), _restart_rules, "restartPolicyRules", "restartPolicy"),
    gate((1, 35), _file_keys, "fileKeyRef"),
    _simple((1, 35), _of_volumes, "image"),
    _simple((1, 37), _of_projections, "clusterTrustBundle"),
    _simple((1, 37), _of_projections, "podCertificate"),
    gate(NEVER, _stop_signals, "lifecycle"),  # an empty one goes too
    _simple(NEVER, _of_pods, "workloadRef", "schedulingGroup", "evictionResponders"),
    gate(NEVER, _file_owners, "defaultUser", "user"),
    gate(NEVER, _directory_modes, "mode"),
    _simple(NEVER, _of_mounts, "bindMountOptions"),
    gate(NEVER, _http_protocols, "protocol"),
    gate(NEVER, _grpc_modes, "mode"),
)
_GATES: Mapping[tuple[str, str], tuple[Gate, ...]] = {
    # On in 1.35, and off again from 1.35.4 until 1.37 for what it did to Pods that are all made at once.
    ("apps", "StatefulSet"): (gate((1, 37), _max_unavailable, "maxUnavailable"),),
    ("", "Node"): (_simple(NEVER, _of_pods, "podPreemptionPolicy"),),
    ("", "PersistentVolumeClaim"): (gate(NEVER, _foreign_source, "dataSourceRef"),),
    **SPEC_GATES,
}
_WHOLE_GATES: Mapping[tuple[str, str], tuple[Gate, ...]] = {**DEVICE_GATES, **OBJECT_GATES}
_WORKLOAD = ("spec", "template", "spec")
_POD_SPECS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "Pod"): ("spec",),
    ("", "PodTemplate"): ("template", "spec"),
    ("", "ReplicationController"): _WORKLOAD,
    ("apps", "DaemonSet"): _WORKLOAD,
    ("apps", "Deployment"): _WORKLOAD,
    ("apps", "ReplicaSet"): _WORKLOAD,
    ("apps", "StatefulSet"): _WORKLOAD,
    ("batch", "CronJob"): ("spec", "jobTemplate", *_WORKLOAD),
    ("batch", "Job"): _WORKLOAD,
}
