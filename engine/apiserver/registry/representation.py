"""How an answer is shown: as it is, as a Table, or as its metadata alone, as the Accept header asks.

Source of the behaviour: apiserver pkg/endpoints/handlers/response.go and negotiation/negotiate.go.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from engine.api.errors import bad_request, not_acceptable
from engine.api.resources import ResourceInfo
from engine.api.schema import Definitions
from engine.api.tables import table
from engine.api.types import Object
from engine.api.wire import JSON, YAML, WatchEvent

_META = "meta.k8s.io/v1"
_SERVED = (JSON, YAML)
_ANY = ("*/*", "application/*", "")
_FORMS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
_INCLUDES = ("", "None", "Metadata", "Object")


class Form(NamedTuple):
    """`kind` is "" for the object as it is."""

    media_type: str = JSON
    kind: str = ""


@lru_cache(maxsize=1024)
def negotiate(accept: str) -> Form:
    """The first form of an Accept header that this server makes. Raises ApiError 406."""
    if not accept or accept == JSON:
        return Form()
    for clause in accept.split(","):
        media_type, *rest = (part.strip() for part in clause.split(";"))
        parameters = dict(part.partition("=")[::2] for part in rest)
        if media_type not in _SERVED and media_type not in _ANY:
            continue
        served = media_type if media_type in _SERVED else JSON
        kind = parameters.get("as", "")
        if not kind:
            return Form(served)
        if kind in _FORMS and parameters.get("g") == "meta.k8s.io" and parameters.get("v") == "v1":
            return Form(served, kind)
    raise not_acceptable((JSON, YAML, "application/vnd.kubernetes.protobuf"))


def represent(
    form: Form, info: ResourceInfo, body: Object, *, now: datetime, definitions: Definitions, include: str = ""
) -> Object:
    """The body in the form asked for. A Status is shown as it is."""
    if not form.kind or body.get("kind") == "Status":
        return body
    items = body.get("items") if body.get("kind") == info.list_kind else None
    if form.kind == "Table":
        if include not in _INCLUDES:
            raise bad_request(f'unrecognized includeObject value: "{include}"')
        metadata = body["metadata"] if items is not None else {"resourceVersion": body["metadata"]["resourceVersion"]}
        objects = items if items is not None else [body]
        return table(
            info,
            objects,
            now=now,
            list_metadata=metadata,
            include_object=include or "Metadata",
            definitions=definitions,
        )
    if items is not None:
        return {
            "kind": "PartialObjectMetadataList",
            "apiVersion": _META,
            "metadata": body["metadata"],
            "items": [partial(item) for item in items],
        }
    return partial(body)


def partial(obj: Object) -> Object:
    return {"kind": "PartialObjectMetadata", "apiVersion": _META, "metadata": obj.get("metadata", {})}


def event_mapper(
    form: Form, info: ResourceInfo, *, now: Callable[[], datetime], definitions: Definitions, include: str = ""
) -> Callable[[WatchEvent], WatchEvent]:
    """What turns the events of a watch into the form asked for. A Table's headers come with the first event only."""
    headers = True

    def change(event: WatchEvent) -> WatchEvent:
        nonlocal headers
        if event.type == "ERROR":
            return event
        if form.kind != "Table":
            return WatchEvent(event.type, partial(event.object), event.revision, event.cause)
        shown = table(
            info,
            [] if event.type == "BOOKMARK" else [event.object],
            now=now(),
            list_metadata={"resourceVersion": event.object["metadata"]["resourceVersion"]},
            include_object=include or "Metadata",
            headers=headers,
            definitions=definitions,
        )
        if event.type == "BOOKMARK":
            # The revision (and the end of the initial events) is told by the one row's object.
            shown["rows"] = [{"cells": [], "object": partial(event.object)}]
        headers = False
        return WatchEvent(event.type, shown, event.revision, event.cause)

    return change
