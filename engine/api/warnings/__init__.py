"""What a client is warned of though its request succeeds: deprecated kinds, and Pods that will surprise.

The REST layer sends each text as a Warning header. Sources: pkg/api/pod/warnings.go, the WarningsOnCreate functions of
pkg/registry, and the APILifecycle methods of deprecated versions (zz_generated.prerelease-lifecycle.go).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.api.resource_table import FLOWCONTROL
from engine.api.resources import ResourceInfo
from engine.api.types import GVK, Object
from engine.api.validation.text import dns_label

# Kind -> since when it is deprecated, when it went, and what to use.
_DEPRECATED: Mapping[GVK, tuple[tuple[int, int], str, str]] = {
    GVK("", "v1", "ComponentStatus"): ((1, 19), "", ""),
    GVK("", "v1", "Endpoints"): ((1, 33), "", "discovery.k8s.io/v1 EndpointSlice"),
    **{
        GVK(FLOWCONTROL, version, kind): (since, gone, f"{FLOWCONTROL}/{use} {kind}")
        for version, since, gone, use in (
            ("v1beta1", (1, 23), "v1.26", "v1beta3"),
            ("v1beta2", (1, 26), "v1.29", "v1"),
            ("v1beta3", (1, 29), "v1.32", "v1"),
        )
        for kind in ("FlowSchema", "PriorityLevelConfiguration")
    },
    GVK("autoscaling", "v2beta2", "HorizontalPodAutoscaler"): (
        (1, 23),
        "v1.26",
        "autoscaling/v2 HorizontalPodAutoscaler",
    ),
}
_NODE_LABELS = {
    "beta.kubernetes.io/arch": ("v1.14", "kubernetes.io/arch"),
    "beta.kubernetes.io/os": ("v1.14", "kubernetes.io/os"),
    "failure-domain.beta.kubernetes.io/region": ("v1.17", "topology.kubernetes.io/region"),
    "failure-domain.beta.kubernetes.io/zone": ("v1.17", "topology.kubernetes.io/zone"),
    "beta.kubernetes.io/instance-type": ("v1.17", "node.kubernetes.io/instance-type"),
}
_VOLUMES = {
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_SURPRISE = "which can result in surprising behavior; a DNS label is recommended"
_WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController", "Job")


def deprecation(info: ResourceInfo) -> str:
    """The warning that every request for a deprecated kind gets; "" for one that is not."""
    if info.extension is not None:
        return info.extension.warning
    found = _DEPRECATED.get(info.gvk)
    if found is None or info.release < found[0]:
        return ""
    since, gone, instead = found
    text = f"{info.gvk.api_version} {info.kind} is deprecated in v{since[0]}.{since[1]}+"
    if gone:
        text += f", unavailable in {gone}+"
    return f"{text}; use {instead}" if instead else text


def warnings_on_create(info: ResourceInfo, obj: Object) -> list[str]:
    found: list[str] = []
    name = obj.get("metadata", {}).get("name", "")
    if info.gvk == GVK("", "v1", "Pod"):
        if wrong := dns_label(name):
            found.append(f"metadata.name: this is used in the Pod's hostname, {_SURPRISE}: [{' '.join(wrong)}]")
        found.extend(_pod(obj.get("spec", {}), "spec"))
    elif info.kind in _WORKLOADS:
        if info.kind != "DaemonSet" and (wrong := dns_label(name)):
            found.append(f"metadata.name: this is used in Pod names and hostnames, {_SURPRISE}: [{' '.join(wrong)}]")
        found.extend(_template(obj.get("spec", {}), "spec"))
    elif info.kind == "CronJob":
        found.extend(_template(obj.get("spec", {}).get("jobTemplate", {}).get("spec", {}), "spec.jobTemplate.spec"))
    return found


def warnings_on_update(info: ResourceInfo, new: Object, old: Object) -> list[str]:
    """Of a changed workload; nobody is warned of a Pod that changes."""
    if info.kind in _WORKLOADS and new.get("spec", {}).get("template") != old.get("spec", {}).get("template"):
        return _template(new.get("spec", {}), "spec")
    return []


def _template(spec: Object, path: str) -> list[str]:
    return _pod(spec.get("template", {}).get("spec", {}), f"{path}.template.spec")


def _pod(spec: Object, path: str) -> list[str]:
    found = [
        f'{path}.nodeSelector[{label}]: deprecated since {since}; use "{instead}" instead'
        for label, (since, instead) in _NODE_LABELS.items()
        if label in spec.get("nodeSelector", {})
    ]
    found += [
        f"{path}.volumes[{index}].{source}: {text}"
        for index, volume in enumerate(spec.get("volumes", ()))
        for source, text in _VOLUMES.items()
        if source in volume
    ]
    found += _duplicates(spec, path)
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        found.append(f"{path}.terminationGracePeriodSeconds: {text}")
    for field in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(field, ())):
            found += _container(container, f"{path}.{field}[{index}]")
    return found


def _duplicates(spec: Object, path: str) -> list[str]:
    found: list[str] = []
    for field, key in (("hostAliases", "ip"), ("imagePullSecrets", "name")):
        seen = set()
        for index, entry in enumerate(spec.get(field, ())):
            value = entry.get(key, "")
            at = f"{path}.{field}[{index}].{key}"
            if not value and field == "imagePullSecrets":
                found.append(f'{at}: invalid empty name ""')
            elif value in seen:
                found.append(f'{at}: duplicate {key} "{value}"')
            seen.add(value)
    return found


def _container(container: Object, path: str) -> list[str]:
    found: list[str] = []
    for field in ("limits", "requests"):
        for name in ("memory", "ephemeral-storage"):
            amount = container.get("resources", {}).get(field, {}).get(name, "")
            if amount.endswith("m"):
                text = f'fractional byte value "{amount}" is invalid, must be an integer'
                found.append(f"{path}.resources.{field}[{name}]: {text}")
    names = set()
    for index, variable in enumerate(container.get("env", ())):
        name = variable.get("name", "")
        if name in names:
            text = f'hides previous definition of "{name}", which may be dropped when using apply'
            found.append(f"{path}.env[{index}]: {text}")
        names.add(name)
    return found + _ports(container.get("ports", ()), path)


def _ports(ports: Sequence[Object], path: str) -> list[str]:
    found, seen = [], dict[tuple[object, ...], int]()
    for index, port in enumerate(ports):
        key = tuple(port.get(field) for field in ("protocol", "hostIP", "hostPort", "containerPort"))
        if key in seen:
            found.append(f"{path}.ports[{index}]: duplicate port definition with {path}.ports[{seen[key]}]")
        seen.setdefault(key, index)
    return found
