"""The fields that a field selector may name, for each kind (the GetAttrs functions and field label conversions of
pkg/registry and pkg/apis/*/v1/conversion.go)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.api.golang.text import quoted
from engine.api.resource_table import CERTIFICATES, EVENTS, RESOURCE
from engine.api.resources import ResourceInfo
from engine.api.types import Object

# What clients of old say, and what is meant.
_ALIASES: Mapping[tuple[str, str], Mapping[str, str]] = {("", "Pod"): {"spec.host": "spec.nodeName"}}
# What a kind says of a field that it does not know, other than most.
_UNSUPPORTED: Mapping[tuple[str, str], str] = {("batch", "Job"): "field label {1} not supported for Job"}
_INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")


def selectable_fields(info: ResourceInfo, obj: Object) -> dict[str, str]:
    """The selectable fields of an object, with their values as text."""
    metadata = obj.get("metadata", {})
    fields = {"metadata.name": metadata.get("name", "")}
    if info.namespaced:
        fields["metadata.namespace"] = metadata.get("namespace", "")
    kind = (info.gvr.group, info.kind)
    more = info.extension.selectable if info.extension is not None else _FIELDS.get(kind)
    if more is not None:
        fields.update(more(obj))
    newer = _NEWER.get(kind)
    if newer is not None and info.release >= newer[0]:
        fields.update(newer[1](obj))
    return fields


def field_of(info: ResourceInfo, label: str) -> str | None:
    """The field that a field selector's label means; None for a label that the kind does not know.

    A kind without fields of its own knows a namespace, even if its objects have none."""
    kind = (info.gvr.group, info.kind)
    label = _ALIASES.get(kind, {}).get(label, label)
    if label == "metadata.namespace" and not info.custom and kind not in _FIELDS:
        return label
    return label if label in selectable_fields(info, {"metadata": {"name": "", "namespace": ""}}) else None


def unknown_field_text(info: ResourceInfo, field: str) -> str:
    """What a client is told that selects by a field that is not selectable."""
    if info.custom or (info.gvr.group, info.kind) in _FIELDS:
        said = _UNSUPPORTED.get((info.gvr.group, info.kind), "field label not supported: {0}")
        return said.format(field, quoted(field))
    return f'{quoted(field)} is not a known field selector: only "metadata.name", "metadata.namespace"'


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _pod(obj: Object) -> dict[str, str]:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    addresses = [each.get("ip", "") for each in status.get("podIPs", ())]
    return {
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.restartPolicy": spec.get("restartPolicy", ""),
        "spec.schedulerName": spec.get("schedulerName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "spec.hostNetwork": _text(spec.get("hostNetwork", False)),
        "status.phase": status.get("phase", ""),
        "status.podIP": addresses[0] if addresses else status.get("podIP", ""),
        "status.podIPs": ",".join(addresses),
        "status.nominatedNodeName": status.get("nominatedNodeName", ""),
    }


def _event(obj: Object) -> dict[str, str]:
    involved = obj.get("involvedObject", {})
    source = obj.get("source", {}).get("component", "") or obj.get("reportingComponent", "")
    return {
        **{f"involvedObject.{name}": _text(involved.get(name)) for name in _INVOLVED},
        "reason": obj.get("reason", ""),
        "reportingComponent": obj.get("reportingComponent", ""),
        "source": source,
        "type": obj.get("type", ""),
    }


def _new_event(obj: Object) -> dict[str, str]:
    regarding = obj.get("regarding", {})
    return {
        **{f"regarding.{name}": _text(regarding.get(name)) for name in _INVOLVED},
        "reason": obj.get("reason", ""),
        "reportingController": obj.get("reportingController", ""),
        "type": obj.get("type", ""),
    }


def _of(*paths: str, default: Any = "") -> Callable[[Object], dict[str, str]]:
    """Fields that are plainly what is at their path."""

    def fields(obj: Object) -> dict[str, str]:
        found = {}
        for path in paths:
            value: Any = obj
            for step in path.split("."):
                value = value.get(step) if isinstance(value, dict) else None
            found[path] = _text(default if value is None else value)
        return found

    return fields


def _job(obj: Object) -> dict[str, str]:
    return {"status.successful": _text(obj.get("status", {}).get("succeeded", 0))}


_FIELDS: Mapping[tuple[str, str], Callable[[Object], dict[str, str]]] = {
    ("", "Event"): _event,
    ("", "Namespace"): _of("status.phase"),
    ("", "Node"): _of("spec.unschedulable", default=False),
    ("", "Pod"): _pod,
    ("", "ReplicationController"): _of("status.replicas", default=0),
    ("", "Secret"): _of("type"),
    ("", "Service"): _of("spec.clusterIP", "spec.type"),
    ("apps", "ReplicaSet"): _of("status.replicas", default=0),
    ("batch", "Job"): _job,
    (CERTIFICATES, "CertificateSigningRequest"): _of("spec.signerName"),
    (CERTIFICATES, "ClusterTrustBundle"): _of("spec.signerName"),
    (CERTIFICATES, "PodCertificateRequest"): _of("spec.signerName", "spec.podName", "spec.nodeName"),
    (EVENTS, "Event"): _new_event,
    (RESOURCE, "ResourceSlice"): _of("spec.nodeName", "spec.driver"),
}
# What can be selected by since a release.
_NEWER: Mapping[tuple[str, str], tuple[tuple[int, int], Callable[[Object], dict[str, str]]]] = {
    (RESOURCE, "ResourceSlice"): ((1, 37), _of("spec.pool.name")),
}
