"""What a document of a manifest becomes: objects whose kind and metadata can be read (hop 01).

Source of the behaviour: apimachinery pkg/apis/meta/v1/unstructured (unstructuredJSONScheme, unstructuredObjectTyper)
and cli-runtime pkg/resource (metadataValidatingDecoder, FlattenListVisitor), error texts included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from engine.api.decoding import type_error
from engine.api.schema import Schema, load_definitions
from engine.api.types import Object
from engine.kubectl.errors import CommandError
from engine.kubectl.manifests import Document

_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_TYPES: dict[type, str] = {
    str: "string",
    bool: "bool",
    int: "number",
    float: "number",
    list: "array",
    dict: "object",
}
_TEXTS = frozenset(("name", "namespace", "generateName"))
_MAPS = frozenset(("labels", "annotations"))


def objects(document: Document, *, deep: bool = False) -> list[Object]:
    """The object of a document, or the items of a list. Raises CommandError in the decoder's words.

    A list within a list is looked into by who reads it into kubectl's own types (`deep`). Others take it for a list
    too, but cannot get at its items.
    """
    value = _sorted(require_object(document))
    if not is_list(document):
        return [value]
    items = list(_items(value))
    if deep:
        return [each for item in items for each in (_items(item) if _holds_items(item) else (item,))]
    if any(_holds_items(item) for item in items):
        raise CommandError("*unstructured.Unstructured is not a list: no Items field in this object")
    return items


def _holds_items(value: Object) -> bool:
    return isinstance(value.get("items"), list)


def require_object(document: Document) -> Object:
    """The document as an object that names its kind. Raises CommandError in the decoder's words."""
    value = document.value
    try:
        if not isinstance(value, dict):
            raise CommandError(f"json: cannot unmarshal {_type_of(value)} into Go value of type unstructured.detector")
        if "items" in value:
            _check_items(value["items"])
        if not has_kind(value):
            raise CommandError(f"Object 'Kind' is missing in '{document.shown}'")
        if problem := _metadata_problem(value):
            raise CommandError(problem)
    except CommandError as error:
        raise CommandError(f'unable to decode "{document.source}": {error}') from None
    return value


def is_list(document: Document) -> bool:
    return isinstance(document.value, dict) and "items" in document.value


def has_kind(value: Object) -> bool:
    """A group and version that cannot be read leave no kind either (schema.ParseGroupVersion)."""
    kind, api_version = value.get("kind"), value.get("apiVersion")
    return isinstance(kind, str) and bool(kind) and not (isinstance(api_version, str) and api_version.count("/") > 1)


def require_type(item: Object) -> None:
    """Items of a list are not asked for their kind before they are looked up. Raises CommandError."""
    missing = ""
    if not has_kind(item):
        missing = "Object 'Kind' is missing in 'object has no kind field '"
    elif not isinstance(item.get("apiVersion"), str) or not item["apiVersion"]:
        missing = "Object 'apiVersion' is missing in 'object has no apiVersion field'"
    if missing:
        raise CommandError(f'unable to get type info from the object "*unstructured.Unstructured": {missing}')


def _check_items(items: Any) -> None:
    if items is not None and not isinstance(items, list):
        raise CommandError(
            f"json: cannot unmarshal {_type_of(items)} into Go struct field decodeList.items of type []json.RawMessage"
        )
    for item in items or ():
        if not isinstance(item, dict):
            raise CommandError(
                f"json: cannot unmarshal {_type_of(item)} into Go value of type map[string]interface {{}}"
            )


def _items(value: Object) -> Iterator[Object]:
    """The items, each with the kind that its list says it has where it says nothing itself."""
    kind, api_version = value["kind"].removesuffix("List"), value.get("apiVersion")
    for item in value["items"] or ():
        if not item.get("kind") and not item.get("apiVersion"):
            implied = {"kind": kind, "apiVersion": api_version}
            item = {**item, **{name: text for name, text in implied.items() if text}}
        yield item


def _metadata_problem(value: Object) -> str:
    """Why the metadata cannot be read as ObjectMeta; "" where it can."""
    api_version, metadata = value.get("apiVersion"), value.get("metadata")
    if api_version is not None and not isinstance(api_version, str):
        found = _type_of(api_version)
        return (
            f"json: cannot unmarshal {found} into Go struct field metadataOnlyObject.TypeMeta.apiVersion of type string"
        )
    if metadata is None or _plain(metadata):
        return ""
    if not isinstance(metadata, dict):
        return (
            f"json: cannot unmarshal {_type_of(metadata)} into Go struct field metadataOnlyObject.metadata "
            "of type v1.ObjectMeta"
        )
    return type_error(load_definitions(), _schema(), {"metadata": _sorted(metadata)})


def _plain(metadata: Any) -> bool:
    """Whether there are only names, labels and annotations, as nearly always, and all of them text."""
    if not isinstance(metadata, dict):
        return False
    for name, value in metadata.items():
        if name in _MAPS and isinstance(value, dict):
            if not all(isinstance(each, str) for each in value.values()):
                return False
        elif name not in _TEXTS or not isinstance(value, str):
            return False
    return True


@lru_cache(maxsize=1)
def _schema() -> Schema:
    definitions = load_definitions()
    return Schema(definitions, {"type": "object", "properties": {"metadata": {"$ref": f"#/$defs/{_OBJECT_META}"}}})


def _sorted(value: Any) -> Any:
    """In the order of JSON that was made from YAML: the first field of a wrong type is told of."""
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _type_of(value: Any) -> str:
    """What encoding/json calls the type of a JSON value."""
    return _TYPES.get(type(value), "value")
