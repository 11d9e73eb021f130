"""What is wrong with the type and metadata of embedded resources (pkg/apiserver/schema/objectmeta/validation.go).

What clients send has been coerced (`object_meta`), so that metadata has the types of Go's fields; not so what webhooks
and policies make of it.
"""

from __future__ import annotations

from typing import Any

from engine.api.crd.object_meta import MalformedError, below, object_meta_of
from engine.api.crd.structural import Structural
from engine.api.schema import load_definitions
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.metadata import object_meta
from engine.api.validation.problems import Problems


def check_embedded(schema: Structural | None, value: Any, path: str, problems: Problems) -> None:
    if schema is None or not schema.has_embedded:
        return
    if isinstance(value, list):
        for index, item in enumerate(value):
            check_embedded(schema.items, item, f"{path}[{index}]", problems)
    elif isinstance(value, dict):
        if schema.embedded:
            _resource(value, f"{path}." if path else "", problems)
        for key, item in value.items():
            check_embedded(schema.child(key), item, below(schema, path, key), problems)


def _resource(value: Object, path: str, problems: Problems) -> None:
    for field in ("apiVersion", "kind"):
        at, found = f"{path}{field}", value.get(field)
        if field not in value:
            problems.required(at)
        elif found == "":
            problems.invalid(at, found, "must not be empty")
        elif not isinstance(found, str):
            problems.invalid(at, found, "must be a string")
        elif field == "apiVersion":
            _api_version(found, at, problems)
        else:
            _kind(found, at, problems)
    if "metadata" in value:
        _metadata(value["metadata"], f"{path}metadata", problems)


def _api_version(value: str, path: str, problems: Problems) -> None:
    if value.count("/") > 1:
        problems.invalid(path, value, f"unexpected GroupVersion string: {value}")


def _kind(value: str, path: str, problems: Problems) -> None:
    if wrong := text.dns_1035_label(value.lower()):
        problems.invalid(path, value, f"may have mixed case, but should otherwise match: {','.join(wrong)}")


def _metadata(value: Any, path: str, problems: Problems) -> None:
    """A name need not be there, but if it is it must be one."""
    try:
        metadata = object_meta_of(load_definitions(), value, "", [])
    except MalformedError as malformed:
        problems.invalid(path, value, str(malformed))
        return
    found = Problems()
    named = {**metadata, "name": metadata.get("name") or "fakename"}
    object_meta(named, namespaced=bool(metadata.get("namespace")), name_rule=text.path_segment, problems=found)
    problems.extend(cause._replace(field=path + cause.field.removeprefix("metadata")) for cause in found)
