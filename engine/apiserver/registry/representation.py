"""How an answer is shown: as it is, as a Table, or as its metadata alone, as the Accept header asks.

Source of the behaviour: apiserver pkg/endpoints/handlers/response.go and negotiation/negotiate.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from engine.api.errors import ApiError, bad_request, field_invalid, not_acceptable
from engine.api.golang.boolean import is_true
from engine.api.resources import ResourceInfo
from engine.api.schema import Definitions
from engine.api.tables import table
from engine.api.types import Object
from engine.api.wire import JSON, PROTOBUF, YAML, Request, WatchEvent
from engine.apiserver.registry.accept import accepted_clauses

_GROUP, _VERSIONS = "meta.k8s.io", ("v1", "v1beta1")
_SERVED = (JSON, YAML, PROTOBUF)
_ANY = ("*/*", "application/*")
_FORMS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
_CONVERTING = frozenset(("as", "g", "v"))
_INCLUDES = ("", "None", "Metadata", "Object")


class Form(NamedTuple):
    """`kind` is "" for the object as it is; `version` is that of the group meta.k8s.io."""

    media_type: str = JSON
    kind: str = ""
    version: str = "v1"

    @property
    def api_version(self) -> str:
        return f"{_GROUP}/{self.version}"


@lru_cache(maxsize=1024)
def negotiate(accept: str, *, typed: bool = True, tables: bool = True, converted: bool = True) -> Form:
    """The form of an Accept header that this server makes and the client likes best; of those that it likes as well
    the first. Of what Go has no type for (`typed`), a custom object, only the metadata has a protobuf, and no Table has
    one (handlers/rest.go AllowsMediaTypeTransform); nor has what is only answered and never kept (not `tables`). What
    is no object has no other form (not `converted`).

    Raises ApiError 406.
    """
    if not accept or accept == JSON:
        return Form()
    for media_type, parameters in accepted_clauses(accept):
        if media_type not in _SERVED and media_type not in _ANY:
            continue
        served = media_type if media_type in _SERVED else JSON
        if "stream" in parameters and (served == YAML or parameters["stream"] != "watch"):
            continue
        kind = parameters.get("as", "")
        if kind == "Table" and not tables:
            continue
        if served == PROTOBUF and (kind == "Table" or not (typed or kind)):
            continue
        if not _CONVERTING & parameters.keys():
            return Form(served)
        if not converted:
            continue
        version = parameters.get("v", "")
        if kind in _FORMS and parameters.get("g") == _GROUP and version in _VERSIONS:
            return Form(served, kind, version)
    raise not_acceptable(_SERVED)


_STREAMED = tuple(f"{each};stream=watch" for each in (JSON, PROTOBUF))


def negotiate_stream(accept: str, *, typed: bool = True) -> Form:
    """The form of the events of a watch, which are never YAML. Raises ApiError 406."""
    form = negotiate(accept, typed=typed)
    if form.media_type == YAML:
        raise not_acceptable(_STREAMED)
    return form


def likes_yaml(accept: str) -> bool:
    """Whether what is not typed is shown as YAML; what the header asks for and there is not is told of in JSON."""
    try:
        return negotiate(accept, typed=False).media_type == YAML
    except ApiError:
        return False


def takes_json(accept: str) -> bool:
    """Whether JSON will do, even where something else is liked better."""
    return not accept or any(clause.media_type in (JSON, *_ANY) for clause in accepted_clauses(accept))


def is_for_a_person(request: Request) -> bool:
    """Whether a person reads the answer: who asks for it, and browsers, curl and wget (negotiation, isPrettyPrint)."""
    accept = request.headers.get("accept", "")
    if "pretty" in accept and any(each.parameters.get("pretty") == "1" for each in accepted_clauses(accept)):
        return True
    if wanted := request.parameter("pretty"):
        return is_true(wanted)
    return request.headers.get("user-agent", "").startswith(("curl", "Wget", "Mozilla/5.0"))


def represent(
    form: Form,
    info: ResourceInfo,
    body: Object,
    *,
    now: datetime,
    definitions: Definitions,
    include: str = "",
    peers: Callable[[], Iterable[Object]] = tuple,
) -> Object:
    """The body in the form asked for. A Status is shown as it is."""
    if not form.kind or body.get("kind") == "Status":
        return body
    items = body.get("items") if body.get("kind") == info.list_kind else None
    if form.kind == "Table":
        check_include(include)
        metadata = _list_metadata(body, single=items is None)
        objects = items if items is not None else [body]
        shown = table(
            info,
            objects,
            now=now,
            list_metadata=metadata,
            include_object=include or "Metadata",
            definitions=definitions,
            peers=peers,
        )
        return _of_version(shown, form)
    if (items is not None) != (form.kind == "PartialObjectMetadataList"):
        raise _other_number(form, info, body)
    if items is not None:
        return {
            "kind": "PartialObjectMetadataList",
            "apiVersion": form.api_version,
            "metadata": _list_metadata(body, single=False),
            "items": [partial(item, form.api_version) for item in items],
        }
    return partial(body, form.api_version)


def _list_metadata(body: Object, *, single: bool) -> Object:
    """ListMeta, which leaves an empty token out that the list of a custom resource has. Of one object: its version."""
    metadata = body["metadata"]
    if single:
        version = metadata.get("resourceVersion")  # what is not stored has none
        return {"resourceVersion": version} if version else {}
    return {name: value for name, value in metadata.items() if value != ""}


def check_include(include: str) -> None:
    """Raises ApiError 400 for a parameter of Tables that is none (ValidateTableOptions)."""
    if include not in _INCLUDES:
        value = field_invalid("includeObject", include, "must be 'Metadata', 'Object', 'None', or empty")
        raise bad_request(f"Unable to convert to Table as requested: {value}")


def _of_version(shown: Object, form: Form) -> Object:
    """A table, and the metadata that its rows are of, in the version asked for."""
    shown["apiVersion"] = form.api_version
    for row in shown["rows"]:
        if row["object"] is not None and row["object"]["kind"] == "PartialObjectMetadata":
            row["object"]["apiVersion"] = form.api_version
    return shown


def _other_number(form: Form, info: ResourceInfo, body: Object) -> ApiError:
    """406 for a list where one object is asked for, and the other way round; Go's types are named."""
    package = "unstructured" if info.custom else info.gvr.group.partition(".")[0] or "core"
    kind = ("UnstructuredList" if "items" in body else "Unstructured") if info.custom else body.get("kind", "")
    what = "not a list" if form.kind == "PartialObjectMetadataList" else "a list"
    text = f"you requested {form.kind}, but the requested object is {what} (*{package}.{kind})"
    return ApiError(406, "NotAcceptable", text)


def partial(obj: Object, api_version: str = f"{_GROUP}/v1") -> Object:
    return {"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": obj.get("metadata", {})}


def event_mapper(
    form: Form,
    info: ResourceInfo,
    *,
    now: Callable[[], datetime],
    definitions: Definitions,
    include: str = "",
    peers: Callable[[], Iterable[Object]] = tuple,
) -> Callable[[WatchEvent], WatchEvent]:
    """What turns the events of a watch into the form asked for. A Table's headers come with the first event only."""
    headers = True

    def change(event: WatchEvent) -> WatchEvent:
        nonlocal headers
        if event.type == "ERROR":
            return event
        if form.kind != "Table":
            return WatchEvent(event.type, partial(event.object, form.api_version), event.revision, event.cause)
        shown = table(
            info,
            [] if event.type == "BOOKMARK" else [event.object],
            now=now(),
            list_metadata={"resourceVersion": event.object["metadata"]["resourceVersion"]},
            include_object=include or "Metadata",
            headers=headers,
            definitions=definitions,
            peers=peers,
        )
        if event.type == "BOOKMARK":
            # The revision (and the end of the initial events) is told by the one row's object.
            shown["rows"] = [{"cells": [], "object": partial(event.object)}]
        headers = False
        return WatchEvent(event.type, _of_version(shown, form), event.revision, event.cause)

    return change
