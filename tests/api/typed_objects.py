"""Objects of made-up types for the tests of server-side apply, and the writes to them row by row."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import orjson

from engine.api.apply import apply, track_update
from engine.api.apply.field_sets import FieldSet
from engine.api.errors import ApiError
from engine.api.schema import Definitions, Schema
from engine.api.types import Object
from tests.api.ownership import T0

TEXT: Object = {"type": "string"}
NUMBER: Object = {"type": "integer"}
ANY: Object = {"x-kubernetes-preserve-unknown-fields": True}
TEXTS: Object = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}
LABELS: Object = {"type": "object", "additionalProperties": TEXT}


def struct(**fields: Object) -> Object:
    return {"type": "object", "properties": fields}


def atomic(raw: Object) -> Object:
    return {**raw, "x-kubernetes-map-type": "atomic"}


def elements(*keys: str, **fields: Object) -> Object:
    items = struct(**dict.fromkeys(keys, TEXT), **fields)
    return {
        "type": "array",
        "items": items,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": list(keys),
    }


def schema_of(raw: Object) -> Schema:
    identified = {"apiVersion": TEXT, "kind": TEXT, "metadata": ANY, **raw.get("properties", {})}
    schema = Definitions("1.37.0", {"Thing": {**raw, "properties": identified}})["Thing"]
    schema.status_apart = schema.fixed = False
    return schema


class Thing:
    """A live object and what is written to it, one call after the other."""

    def __init__(self, raw: Object) -> None:
        self.schema = schema_of(raw)
        self.live: Object | None = None
        self.now: datetime = T0

    def applied(self, manager: str, fields: Object, *, force: bool = False, version: str = "v1") -> None:
        self.live = apply(
            self.live,
            {"apiVersion": version, "kind": "Thing", "metadata": {"name": "t"}, **fields},
            manager=manager,
            force=force,
            now=self.now,
            schema=self.schema,
            api_version=version,
            schemas=lambda gvk: None if gvk.version == "gone" else self.schema,
        )

    def updated(self, manager: str, fields: Object, version: str = "v1") -> None:
        metadata = {"name": "t", "uid": "u"}
        self.live = track_update(
            self.live,
            {"apiVersion": version, "kind": "Thing", "metadata": metadata, **fields},
            manager=manager,
            now=self.now,
            schema=self.schema,
            api_version=version,
            schemas=lambda gvk: None if gvk.version == "gone" else self.schema,
        )

    def conflicts(self, manager: str, fields: Object) -> list[tuple[str, str]]:
        """What an apply without force would take, and from whom; nothing is changed."""
        before = self.live
        try:
            self.applied(manager, fields)
        except ApiError as error:
            return [(cause["message"], cause["field"]) for cause in (error.details or {})["causes"]]
        finally:
            self.live = before
        return []

    @property
    def fields(self) -> Object:
        assert self.live is not None
        return {key: value for key, value in self.live.items() if key not in ("apiVersion", "kind", "metadata")}

    @property
    def owners(self) -> dict[str, FieldSet]:
        assert self.live is not None
        return {entry["manager"]: entry["fieldsV1"] for entry in self.live["metadata"].get("managedFields", ())}


def owned(*paths: Iterable[Any] | str) -> FieldSet:
    """The set of these paths; a step that is no text is the key of an element: `{"name": "a"}`, or a value: `["a"]`."""
    root: FieldSet = {}
    found = [[_step(step) for step in ((path,) if isinstance(path, str) else path)] for path in paths]
    for path in found:
        node = root
        for step in path:
            node = node.setdefault(step, {})
    for path in found:
        node = root
        for step in path:
            node = node[step]
        if node:
            node["."] = {}
    return root


def _step(step: Any) -> str:
    if isinstance(step, str):
        return f"f:{step}"
    return f"v:{orjson.dumps(step[0]).decode()}" if isinstance(step, list) else f"k:{orjson.dumps(step).decode()}"
