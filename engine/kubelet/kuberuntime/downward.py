"""What a Pod tells its own containers of itself: the downward API (pkg/fieldpath fieldpath.go, pkg/api/v1/resource
helpers.go)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.kuberuntime.errors import ConfigError

_SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['(.*)'\]")
# Where a container has no limit of these, it may use what the node has.
_BOUND_BY_NODE = ("cpu", "memory", "ephemeral-storage")


def field_value(pod: Object, path: str, *, pod_ips: tuple[str, ...] = (), host_ip: str = "") -> str:
    """The field that a `fieldRef` names, as text. Raises ConfigError."""
    metadata, spec = pod["metadata"], pod["spec"]
    if match := _SUBSCRIPT.fullmatch(path):
        return str((metadata.get(match[1]) or {}).get(match[2], ""))
    if path in ("metadata.labels", "metadata.annotations"):
        return _lines(metadata.get(path.partition(".")[2]) or {})
    fields = {
        "metadata.name": metadata.get("name", ""),
        "metadata.namespace": metadata.get("namespace", ""),
        "metadata.uid": metadata.get("uid", ""),
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "status.podIP": pod_ips[0] if pod_ips else "",
        "status.podIPs": ",".join(pod_ips),
        "status.hostIP": host_ip,
        "status.hostIPs": host_ip,
    }
    if path not in fields:
        raise ConfigError(f"unsupported fieldPath: {path}")
    return str(fields[path])


def _lines(values: Mapping[str, str]) -> str:
    """A map as the files of a downward volume hold it."""
    return "\n".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in sorted(values.items()))


def resource_value(pod: Object, reference: Object, allocatable: Mapping[str, str], own: Object | None = None) -> str:
    """What a `resourceFieldRef` names, in units of its divisor, rounded up; `own` is the container that asks, if one
    does. Raises ConfigError."""
    name = reference.get("containerName")
    target = pods.find_container(pod, name) if name else own
    if target is None:
        raise ConfigError(f"container {name} not found")
    kind, _, resource = str(reference["resource"]).partition(".")
    if kind not in ("limits", "requests") or not resource:
        raise ConfigError(f"Unsupported container resource : {reference['resource']}")
    given = (target.get("resources") or {}).get(kind) or {}
    amount = Quantity.parse(given.get(resource, "0"))
    if kind == "limits" and not amount and resource in _BOUND_BY_NODE:
        amount = Quantity.parse(allocatable.get(resource, "0"))
    divisor = Quantity.parse(reference.get("divisor") or "0") or Quantity.of(1)
    if resource == "cpu":
        return str(-(-amount.milli // divisor.milli))
    return str(-(-amount.value // divisor.value))
