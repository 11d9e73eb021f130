"""Subresources that are another view of the object: what is shown of it, and what of the view is taken back.

Source of the behaviour: pkg/registry/apps/deployment/storage (ScaleREST), pkg/registry/core/pod/strategy.go
(ephemeralcontainers, resize), pkg/registry/core/namespace/strategy.go (finalize),
pkg/registry/certificates/certificates/strategy.go (approval).
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.errors import Cause
from engine.api.resources import ResourceInfo
from engine.api.selectors import format_label_selector, format_labels
from engine.api.strategies.disabled_fields import drop_disabled_fields
from engine.api.types import Object, copy_object
from engine.api.validation.certificates import validate_approval
from engine.api.validation.core import validate_namespace_finalize
from engine.api.validation.declared import declaratively
from engine.api.validation.pod_subresources import validate_ephemeral_containers, validate_resize
from engine.apiserver.customresources.scale import custom_scale
from engine.apiserver.registry.facet import SCALE, Check, Facet
from engine.apiserver.registry.scale import check_scale, scale_metadata, take_scale_metadata, with_scale_owners


def facet_of(info: ResourceInfo, subresource: str) -> Facet | None:
    """The facet that a subresource is; None if it is none (the object itself and its status are facets too)."""
    if subresource in ("", "status"):
        return Facet(info.gvk, _same, _replace)
    if subresource == "scale" and info.extension is not None:
        return custom_scale(info.extension.scale, info.gvk)
    if subresource == "scale":
        return _scale(info)
    make = _FACETS.get((info.gvr.group_resource, subresource))
    return make(info) if make is not None else None


def _same(obj: Object) -> Object:
    return obj


def _replace(_: Object, view: Object) -> Object:
    return view


# -- scale

_REPLICAS = ("spec", "replicas")
_RESIZED = ("containers", "initContainers")
_WITH_REPLICAS = frozenset({"v1", "apps/v1", "apps/v1beta1", "apps/v1beta2"})


def _show_scale(obj: Object) -> Object:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    selector = spec.get("selector")
    replication_controller = obj["kind"] == "ReplicationController"
    text = format_labels(selector) if replication_controller else format_label_selector(selector)
    scale: Object = {
        "kind": SCALE.kind,
        "apiVersion": SCALE.api_version,
        "metadata": scale_metadata(obj),
        "spec": {},
        "status": {"replicas": status.get("replicas", 0)},
    }
    if replicas := spec.get("replicas", 0):
        scale["spec"]["replicas"] = replicas
    if selector is not None:
        scale["status"]["selector"] = text
    return scale


def _scale(info: ResourceInfo) -> Facet:
    def path_in(api_version: str) -> tuple[str, ...] | None:
        return _REPLICAS if api_version in _WITH_REPLICAS else None

    def start(obj: Object) -> Object:
        return with_scale_owners(_show_scale(obj), obj, path_in)

    def take(old: Object, scale: Object) -> Object:
        replicas = (scale.get("spec") or {}).get("replicas", 0)
        check_scale(info, old, scale, replicas)
        new = copy_object(old)
        new["spec"]["replicas"] = replicas
        take_scale_metadata(new, scale, path_in, info.gvk.api_version)
        return new

    return Facet(SCALE, _show_scale, take, start=start)


# -- parts of a Pod, a Namespace, a CertificateSigningRequest


# What clients write into metadata; a finalize and an approval take it, the parts of a Pod do not.
_METADATA = ("managedFields", "labels", "annotations", "ownerReferences", "finalizers")


def _part(
    info: ResourceInfo,
    take: Callable[[Object, Object], None],
    check: Check,
    metadata: tuple[str, ...] = ("managedFields",),
) -> Facet:
    """A facet that shows the whole object and takes one part of it back, and of its metadata what is named."""

    def take_part(old: Object, view: Object) -> Object:
        new = copy_object(old)
        new["metadata"]["resourceVersion"] = view["metadata"].get("resourceVersion", "")
        for field in metadata:
            _take(new["metadata"], view["metadata"], field)
        take(new, view)
        return new

    return Facet(info.gvk, _same, take_part, check)


def _ephemeral_containers(info: ResourceInfo) -> Facet:
    def take(new: Object, view: Object) -> None:
        before = {"spec": dict(new["spec"])}
        new["spec"]["ephemeralContainers"] = (view.get("spec") or {}).get("ephemeralContainers") or []
        drop_disabled_fields(info, new, before)

    return _part(info, take, validate_ephemeral_containers)


def _resize(info: ResourceInfo) -> Facet:
    def take(new: Object, view: Object) -> None:
        """Containers that were renamed, moved, added or left out are taken as they are, and refused then."""
        spec = view.get("spec") or {}
        if any(len(_names(spec, field)) != len(_names(new["spec"], field)) for field in _RESIZED):
            new["spec"] = spec
            return
        _take(new["spec"], spec, "resources")
        for field in _RESIZED:
            if _names(spec, field) != _names(new["spec"], field):
                new["spec"][field] = spec[field]
                continue
            for container, source in zip(new["spec"].get(field) or (), spec.get(field) or (), strict=True):
                for part in ("resources", "resizePolicy"):
                    _take(container, source, part)

    return _part(info, take, validate_resize)


def _take(target: Object, source: Object, field: str) -> None:
    if field in source:
        target[field] = source[field]
    else:
        target.pop(field, None)


def _names(spec: Object, field: str) -> list[str]:
    return [container.get("name", "") for container in spec.get(field) or ()]


def _finalize(info: ResourceInfo) -> Facet:
    def take(new: Object, view: Object) -> None:
        finalizers = (view.get("spec") or {}).get("finalizers")
        spec = new.setdefault("spec", {})
        if finalizers:
            spec["finalizers"] = finalizers
        else:
            spec.pop("finalizers", None)

    return _part(info, take, validate_namespace_finalize, _METADATA)


def _approval(info: ResourceInfo) -> Facet:
    def take(new: Object, view: Object) -> None:
        """All conditions, of whatever kind."""
        _take(new.setdefault("status", {}), view.get("status") or {}, "conditions")

    def check(new: Object, old: Object) -> list[Cause]:
        return declaratively(info, new, old, validate_approval(new, old))

    return _part(info, take, check, _METADATA)


_FACETS: dict[tuple[str, str], Callable[[ResourceInfo], Facet]] = {
    ("pods", "ephemeralcontainers"): _ephemeral_containers,
    ("pods", "resize"): _resize,
    ("namespaces", "finalize"): _finalize,
    ("certificatesigningrequests.certificates.k8s.io", "approval"): _approval,
}
