"""Metadata of stored objects that this server would not have written: a store may be older than what is asked of it.

Source of the behaviour: apiextensions-apiserver pkg/apiserver (unstructuredSchemaCoercer, with dropInvalidMetadata and
repairGeneration) and pkg/apiserver/schema/objectmeta (coerce.go).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from engine.api.crd.object_meta import coerced, readable_meta
from engine.api.crd.structural import Structural
from engine.api.schema import Definitions
from engine.api.types import Object


def repaired(definitions: Definitions, schema: Structural, stored: Object) -> Object:
    """The object without what Go cannot read of its metadata and of that of the resources in it, and with a generation;
    itself where there is nothing to repair."""
    if not _as_written(stored["metadata"]):
        metadata = readable_meta(definitions, stored["metadata"], "metadata", [])
        stored = {**stored, "metadata": {**metadata, "generation": metadata.get("generation") or 1}}
    if not schema.has_embedded:
        return stored
    made: Object = coerced(definitions, schema, stored, "", [], drop=True)
    return made


def _as_written(metadata: Mapping[str, Any]) -> bool:
    """Whether nothing strikes the eye: to decode the metadata of all that is read takes longer than all else."""
    return bool(metadata.get("generation")) and _fit(_OBJECT, metadata)


def _fit(fields: Mapping[str, Callable[[Any], bool]], value: Any) -> bool:
    return isinstance(value, dict) and all(key in fields and fields[key](item) for key, item in value.items())


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _whole(value: Any) -> bool:
    return type(value) is int


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _text_map(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _list_of(fields: Mapping[str, Callable[[Any], bool]]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(_fit(fields, item) for item in value)


_OWNER: Final = {
    **dict.fromkeys(("apiVersion", "kind", "name", "uid"), _text),
    **dict.fromkeys(("controller", "blockOwnerDeletion"), lambda value: isinstance(value, bool)),
}
_MANAGER: Final = {
    **dict.fromkeys(("manager", "operation", "apiVersion", "time", "fieldsType", "subresource"), _text),
    "fieldsV1": lambda value: isinstance(value, dict),
}
_OBJECT: Final = {
    **dict.fromkeys(("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"), _text),
    **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), _text),
    **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), _whole),
    **dict.fromkeys(("labels", "annotations"), _text_map),
    "finalizers": _texts,
    "ownerReferences": _list_of(_OWNER),
    "managedFields": _list_of(_MANAGER),
}
