"""An admission request as webhooks and expressions see it (admission.k8s.io/v1 AdmissionRequest)."""

from __future__ import annotations

from engine.api.decoding import Unfit, unmarshalled
from engine.api.defaults import apply_defaults
from engine.api.errors import ApiError, internal
from engine.api.go_schemes import internal_package, registered, scheme_of
from engine.api.golang.json import written
from engine.api.resources import ResourceInfo
from engine.api.schema import Definitions
from engine.api.strategies.strategy import fill_status
from engine.api.types import GVK, GVR, Object, copy_object
from engine.apiserver.admission.attributes import Attributes, Operation


def retyped(definitions: Definitions, gvk: GVK, obj: Object, *, strict: bool) -> Object:
    """What somebody made of an object, as Go's types have it; custom objects have none. Raises ApiError 500."""
    schema = definitions.kind(gvk)
    custom = schema is None or gvk in definitions.extensions
    if custom and not (isinstance(kind := obj.get("kind"), str) and kind and str(obj.get("apiVersion")).count("/") < 2):
        raise internal(f"Object 'Kind' is missing in '{written(obj)}'")
    if schema is None or "metadata" in schema.properties:
        obj = {**obj, "metadata": obj.get("metadata") or {}}  # Go's objects always have them
    if schema is None or custom:
        return copy_object(obj)
    _check_kind(definitions, gvk, obj)
    try:
        decoded = unmarshalled(definitions, schema, obj, gvk=gvk)
    except Unfit as error:
        raise internal(str(error)) from None
    if strict and decoded.unknown:
        raise internal(f"strict decoding error: {', '.join(decoded.unknown)}")
    return decoded.object


def _check_kind(definitions: Definitions, gvk: GVK, obj: Object) -> None:
    """An object is of the kind that it says, if it says one. Raises ApiError 500 for one that is unknown, or that is
    none of what is wanted in another version."""
    group, _, version = str(obj.get("apiVersion") or gvk.api_version).rpartition("/")
    said = GVK(group, version, str(obj.get("kind") or gvk.kind))
    if said == gvk:
        return
    if not registered(definitions, said, gvk.group):
        scheme = scheme_of(gvk.group)
        raise internal(f'no kind "{said.kind}" is registered for version "{said.api_version}" in scheme "{scheme}"')
    if said.kind != gvk.kind:
        into = f"{internal_package(gvk.group)}.{gvk.kind}"
        raise ApiError(500, "", f"converting ({said.version}.{said.kind}) to ({into}): unknown conversion")


def fill(attributes: Attributes) -> None:
    """Give the object of a write what a struct of Go has though the client says nothing of it, and what whoever
    changes it is shown."""
    obj, resource = attributes.object, attributes.resource
    if obj is not None and attributes.operation is not Operation.CONNECT and obj.get("kind") == resource.kind:
        fill_status(resource, obj)


def take_over(attributes: Attributes, obj: Object, changed: Object, *, patched: bool = False) -> bool:
    """Make the request's object what a webhook or policy made of it, defaulted; says whether that is another, or
    with `patched` whether it was before the defaults."""
    differs = changed != obj
    if not attributes.subresource:
        apply_defaults(attributes.resource, changed)
    changes = changed != obj
    if changes:
        obj.clear()
        obj.update(changed)
    return differs if patched else changes


def request_of(attributes: Attributes, resource: ResourceInfo, *, uid: str) -> Object:
    """All but the objects."""
    request: Object = {
        "uid": uid,
        "kind": _kind(kind_of(attributes, resource)),
        "resource": _resource(resource.gvr),
        "requestKind": _kind(kind_of(attributes, attributes.resource)),
        "requestResource": _resource(attributes.resource.gvr),
        "operation": attributes.operation.value,
        "userInfo": attributes.user.to_json(),
        "dryRun": attributes.dry_run,
        "options": attributes.options,
    }
    if attributes.subresource:
        request["subResource"] = request["requestSubResource"] = attributes.subresource
    if attributes.name:
        request["name"] = attributes.name
    if attributes.namespace:
        request["namespace"] = attributes.namespace
    return request


def kind_of(attributes: Attributes, resource: ResourceInfo) -> GVK:
    """Of the request's object, which a subresource may have its own of."""
    sub = resource.subresources.get(attributes.subresource) if attributes.subresource else None
    return sub.gvk if sub is not None else resource.gvk


def _kind(gvk: GVK) -> Object:
    return {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}


def _resource(gvr: GVR) -> Object:
    return {"group": gvr.group, "version": gvr.version, "resource": gvr.resource}
