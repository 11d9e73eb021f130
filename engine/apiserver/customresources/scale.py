"""The scale subresource of custom resources, whose fields are where the definition says.

Source of the behaviour: apiextensions-apiserver pkg/registry/customresource/etcd.go (ScaleREST).
"""

from __future__ import annotations

from typing import Any

from engine.api.errors import ApiError, bad_request, internal
from engine.api.extension import ScalePaths
from engine.api.types import GVK, Object, copy_object
from engine.apiserver.registry.facet import SCALE, Facet
from engine.apiserver.registry.scale import scale_metadata, take_scale_metadata, with_scale_owners

# What a write starts from where there are no replicas: it has to say some.
_NONE = -(2**31)


def custom_scale(paths: ScalePaths | None, gvk: GVK) -> Facet:
    assert paths is not None, "a resource without scale has no such subresource"

    named = f'".{".".join(paths.spec)}"'

    def show(obj: Object) -> Object:
        if _found(obj, paths.spec) is None:
            raise internal(f"the spec replicas field {named} does not exist")
        return view(obj)

    def start(obj: Object) -> Object:
        scale = view(obj)
        if _found(obj, paths.spec) is None:
            scale["spec"]["replicas"] = _NONE
        return with_scale_owners(scale, obj, paths.replicas.get)

    def view(obj: Object) -> Object:
        status: Object = {"replicas": _found(obj, paths.status) or 0}
        if selector := _found(obj, paths.selector) if paths.selector else None:
            status["selector"] = selector
        replicas = _found(obj, paths.spec)
        return {
            "kind": SCALE.kind,
            "apiVersion": SCALE.api_version,
            "metadata": scale_metadata(obj),
            "spec": {"replicas": replicas} if replicas else {},
            "status": status,
        }

    def take(old: Object, scale: Object) -> Object:
        new = copy_object(old)
        replicas = (scale.get("spec") or {}).get("replicas", 0)
        if replicas == _NONE:
            raise bad_request(f"the spec replicas field {named} cannot be empty")
        _set(new, paths.spec, replicas)
        take_scale_metadata(new, scale, paths.replicas.get, gvk.api_version)
        if not scale["metadata"].get("resourceVersion"):  # a write that does not care what it changes
            new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
        return new

    return Facet(SCALE, show, take, start=start)


def _found(obj: Any, fields: tuple[str, ...]) -> Any:
    for name in fields:
        obj = obj.get(name) if isinstance(obj, dict) else None
    return obj


def _set(obj: Object, fields: tuple[str, ...], value: Any) -> None:
    for depth, name in enumerate(fields[:-1]):
        below = obj.setdefault(name, {})
        if not isinstance(below, dict):  # only null gets here: what else is no mapping, no object has had there
            path = ".".join(fields[: depth + 1])
            raise ApiError(500, "", f"value cannot be set because .{path} is not a map[string]interface{{}}")
        obj = below
    obj[fields[-1]] = value
