"""A custom object after mutating admission, which has no type that would hold webhooks and policies to anything: it
becomes one of its kind and version again, with metadata that can be read.

Source: apiextensions-apiserver pkg/apiserver/conversion/converter.go (ConvertToVersion), pkg/apiserver/schema/
objectmeta and pkg/registry/customresource/validator.go (ValidateTypeMeta).
"""

from __future__ import annotations

from typing import Any

from engine.api.crd.object_meta import MalformedError, object_meta_of, readable_meta
from engine.api.errors import ApiError, field_invalid, invalid
from engine.api.types import GVK, Object
from engine.apiserver.admission import Attributes
from engine.apiserver.admission.requests import kind_of
from engine.apiserver.admission.versions import Versions
from engine.apiserver.backend import Backend

# What the server sets whatever there is, so that nobody sees that it was none.
_SET = ("creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "namespace",
        "resourceVersion", "selfLink", "uid")  # fmt: skip
_NAMES = ("generateName", "name")


async def settle(backend: Backend, attributes: Attributes) -> None:
    """Raises ApiError 422 for an object of another kind, and 500 where it cannot be converted or its metadata cannot be
    read."""
    obj, info = attributes.object, attributes.resource
    changed = info.extension is not None and attributes.wants_reinvocation
    if not changed or obj is None or kind_of(attributes, info) != info.gvk:
        return
    await _convert(backend, attributes, obj)
    metadata = obj["metadata"] = _readable(backend, obj["metadata"])
    if (kind := obj["kind"]) != info.kind:
        said = GVK(info.gvr.group, info.gvr.version, kind)
        raise invalid(said, metadata.get("name", ""), [field_invalid("kind", kind, f"must be {info.kind}")])


async def _convert(backend: Backend, attributes: Attributes, obj: Object) -> None:
    info, said = attributes.resource, str(obj.get("apiVersion") or "")
    if said == info.gvk.api_version:
        return
    group, _, version = said.rpartition("/")
    if group != info.gvr.group:
        unsuitable = f"{said or '/'}, Kind={obj['kind']} is unsuitable for converting to"
        raise ApiError(500, "", f'{unsuitable} "{info.gvk.api_version}"')
    other = backend.resources.get(group, version, info.gvr.resource)
    if other is None:
        raise ApiError(500, "", f"request to convert CR from an invalid group/version: {said}")
    made = await Versions(backend.storage).read_back(attributes, other, obj)
    obj.clear()
    obj.update(made)


def _readable(backend: Backend, metadata: Any) -> Object:
    if not isinstance(metadata, dict):
        metadata = {}
    definitions = backend.definitions
    given = {key: value for key, value in metadata.items() if key not in _SET}
    for name in _NAMES:
        if not isinstance(given.get(name, ""), str):
            del given[name]
    readable: Object = readable_meta(definitions, {key: metadata[key] for key in _SET if key in metadata}, "", [])
    try:
        return {**object_meta_of(definitions, given, "", []), **readable}
    except MalformedError as malformed:
        raise ApiError(500, "", str(malformed)) from None
