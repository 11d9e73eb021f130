"""The paths of an OpenAPI document: each operation on a resource, with its kind, action and query parameters.

kubectl reads from them which kinds take `dryRun` and `fieldValidation` (cli-runtime's query parameter verifier), and
`kubectl explain` which kind a resource has. Source of the shapes: apiserver pkg/endpoints/installer.go,
apiextensions-apiserver pkg/controller/openapi/builder/builder.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from engine.api.openapi.schemas import PREFIX, Dialect
from engine.api.resources import ResourceInfo, Subresource
from engine.api.schema import Definitions
from engine.api.types import GVK, Object
from engine.api.wire import APPLY_PATCH, JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, YAML

_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_WATCH = f"{JSON};stream=watch"

# Query parameters: name -> (type, description).
_PARAMETERS: Mapping[str, tuple[str, str]] = {
    "pretty": ("string", "If 'true', the output is printed for people to read."),
    "dryRun": ("string", "When present, nothing is persisted. Valid values are: - All: all stages are processed."),
    "fieldManager": ("string", "The name of the actor that makes these changes."),
    "fieldValidation": (
        "string",
        "What the server does about unknown or duplicate fields. Valid values are: - Ignore - Warn - Strict.",
    ),
    "force": ("boolean", "Take over conflicting fields of other managers. Apply requests only."),
    "allowWatchBookmarks": ("boolean", "Ask for watch events of type BOOKMARK."),
    "continue": ("string", "Where an earlier list left off."),
    "fieldSelector": ("string", "Restricts the objects by their fields."),
    "labelSelector": ("string", "Restricts the objects by their labels."),
    "limit": ("integer", "The greatest number of objects to return for a list call."),
    "resourceVersion": ("string", "Constrains the resource versions that the request may be served from."),
    "resourceVersionMatch": ("string", "How resourceVersion is applied to list calls."),
    "sendInitialEvents": ("boolean", "Begin a watch with the objects that there are."),
    "timeoutSeconds": ("integer", "Limits the duration of the call."),
    "watch": ("boolean", "Stream changes as they happen."),
    "gracePeriodSeconds": ("integer", "The seconds before the object is deleted."),
    "ignoreStoreReadErrorWithClusterBreakingPotential": ("boolean", "Delete an object that cannot be read."),
    "orphanDependents": ("boolean", "Deprecated: use propagationPolicy."),
    "propagationPolicy": ("string", "Whether and how dependents are deleted."),
}
_LIST = (
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
    "watch",
)
_WRITE = ("dryRun", "fieldManager", "fieldValidation")
_DELETE = (
    "dryRun",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "orphanDependents",
    "propagationPolicy",
)
# What an action may be answered with besides 200; a patch of a custom resource makes none.
_OTHER_ANSWERS: Mapping[str, Mapping[str, str]] = {
    "post": {"201": "Created", "202": "Accepted"},
    "put": {"201": "Created"},
    "patch": {"201": "Created"},
    "delete": {"202": "Accepted"},
}


class _Verb(NamedTuple):
    """How an RBAC verb looks as an HTTP operation."""

    method: str
    action: str
    words: str
    parameters: tuple[str, ...] = ()


_COLLECTION = {
    "list": _Verb("get", "list", "list or watch objects of kind", _LIST),
    "create": _Verb("post", "post", "create a", _WRITE),
    "deletecollection": _Verb("delete", "deletecollection", "delete collection of", (*_LIST[1:-1], *_DELETE)),
}
_ITEM = {
    "get": _Verb("get", "get", "read the specified"),
    "create": _Verb("post", "post", "create", _WRITE),
    "update": _Verb("put", "put", "replace the specified", _WRITE),
    "patch": _Verb("patch", "patch", "partially update the specified", (*_WRITE, "force")),
    "delete": _Verb("delete", "delete", "delete a", _DELETE),
}


def resource_paths(definitions: Definitions, info: ResourceInfo, dialect: Dialect) -> Iterator[tuple[str, Object]]:
    """Every path of a resource and its subresources, with the path item."""
    namespace = "{namespace}" if info.namespaced else None
    maker = _Maker(definitions, info, dialect)
    if info.namespaced and "list" in info.verbs:
        yield info.gvr.path(), maker.item(info.gvk, ("list",), everywhere=True)
    yield info.gvr.path(namespace), maker.item(info.gvk, [verb for verb in info.verbs if verb in _COLLECTION])
    single = [verb for verb in info.verbs if verb in _ITEM and verb != "create"]
    if single:
        yield info.gvr.path(namespace, "{name}"), maker.item(info.gvk, single, named=True)
    for subresource in info.subresources.values():
        path = info.gvr.path(namespace, "{name}", subresource.name)
        yield path, maker.item(subresource.gvk, subresource.verbs, named=True, subresource=subresource)


class _Maker:
    """Makes the path items of one resource in one dialect."""

    def __init__(self, definitions: Definitions, info: ResourceInfo, dialect: Dialect) -> None:
        self.definitions = definitions
        self.info = info
        self.dialect = dialect
        self.group_id = _group_id(info.gvk)
        # kubectl looks here whether a kind can be merged by its schema.
        self._patches = [JSON_PATCH, MERGE_PATCH, *([] if info.custom else [STRATEGIC_PATCH]), APPLY_PATCH]

    def item(
        self,
        gvk: GVK,
        verbs: Iterable[str],
        *,
        named: bool = False,
        everywhere: bool = False,
        subresource: Subresource | None = None,
    ) -> Object:
        item: Object = {}
        for name in verbs:
            verb = (_ITEM if named else _COLLECTION)[name]
            item[verb.method] = self._operation(gvk, verb, everywhere=everywhere, subresource=subresource)
        parameters = []
        if named:
            parameters.append(self._path_parameter("name", f"name of the {self.info.kind}"))
        if self.info.namespaced and not everywhere:
            text = "object name and auth scope, such as for teams and projects"
            parameters.append(self._path_parameter("namespace", text))
        item["parameters"] = [*parameters, self._query_parameter("pretty")]
        return item

    def _operation(self, gvk: GVK, verb: _Verb, *, everywhere: bool, subresource: Subresource | None) -> Object:
        of = f"{subresource.name} of the specified " if subresource else ""
        operation: Object = {
            "description": f"{verb.words} {of}{self.info.kind}",
            "operationId": self._operation_id(verb, everywhere=everywhere, subresource=subresource),
            "tags": [self.group_id],
            "x-kubernetes-action": verb.action,
            "x-kubernetes-group-version-kind": {"group": gvk.group, "kind": gvk.kind, "version": gvk.version},
        }
        if verb.parameters:
            operation["parameters"] = [self._query_parameter(name) for name in verb.parameters]
        body = self._body(gvk, verb)
        answer = self._answer(gvk, verb)
        media_types = [JSON, YAML, *([_WATCH] if verb.action == "list" else [])]
        made = {code: self._response(text, answer, media_types) for code, text in self._codes(gvk, verb)}
        responses = {**made, "401": {"description": "Unauthorized"}}
        if self.dialect == "v2":
            return {**self._v2(operation, verb, body), "produces": media_types, "responses": responses}
        return {**self._v3(operation, verb, body), "responses": responses}

    def _codes(self, gvk: GVK, verb: _Verb) -> Iterator[tuple[str, str]]:
        yield "200", "OK"
        connects = gvk.kind.endswith("Options")  # to a container, or through a proxy
        if not connects and not (self.info.custom and verb.action == "patch"):
            yield from _OTHER_ANSWERS.get(verb.action, {}).items()

    def _body(self, gvk: GVK, verb: _Verb) -> str:
        match verb.method:
            case "post" | "put":
                return self.definitions.kinds.get(gvk, "")
            case "patch":
                return f"{_META}.Patch"
            case "delete":
                return f"{_META}.DeleteOptions"
        return ""

    def _answer(self, gvk: GVK, verb: _Verb) -> str:
        if verb.action == "list":
            return self.definitions.kinds.get(gvk._replace(kind=self.info.list_kind), "")
        if verb.method == "delete":
            return f"{_META}.Status"
        return self.definitions.kinds.get(gvk, "")

    def _operation_id(self, verb: _Verb, *, everywhere: bool, subresource: Subresource | None) -> str:
        words = {"get": "read", "post": "create", "put": "replace", "deletecollection": "deleteCollection"}
        group = "".join(part[:1].upper() + part[1:] for part in self.group_id.split("_"))
        scope = "Namespaced" if self.info.namespaced and not everywhere else ""
        sub = subresource.name[:1].upper() + subresource.name[1:] if subresource else ""
        tail = "ForAllNamespaces" if everywhere else ""
        return f"{words.get(verb.action, verb.action)}{group}{scope}{self.info.kind}{sub}{tail}"

    # -- dialects

    def _ref(self, name: str) -> Object:
        return {"$ref": PREFIX[self.dialect] + name} if name else {"type": "string"}

    def _response(self, description: str, answer: str, media_types: list[str]) -> Object:
        if self.dialect == "v2":
            return {"description": description, "schema": self._ref(answer)}
        return {"content": {media: {"schema": self._ref(answer)} for media in media_types}, "description": description}

    def _v2(self, operation: Object, verb: _Verb, body: str) -> Object:
        if body:
            parameter: Object = {"in": "body", "name": "body", "schema": self._ref(body)}
            if verb.method != "delete":
                parameter["required"] = True
            operation["parameters"] = [parameter, *operation.get("parameters", ())]
        consumes = self._patches if verb.method == "patch" else ["*/*"]
        return {**operation, "consumes": consumes, "schemes": ["https"]}

    def _v3(self, operation: Object, verb: _Verb, body: str) -> Object:
        if body:
            types = self._patches if verb.method == "patch" else ["*/*"]
            content = {media: {"schema": self._ref(body)} for media in types}
            operation["requestBody"] = {"content": content, **({} if verb.method == "delete" else {"required": True})}
        return operation

    def _query_parameter(self, name: str) -> Object:
        type_, description = _PARAMETERS[name]
        return self._parameter({"description": description, "in": "query", "name": name}, type_)

    def _path_parameter(self, name: str, description: str) -> Object:
        return self._parameter({"description": description, "in": "path", "name": name, "required": True}, "string")

    def _parameter(self, parameter: Object, type_: str) -> Object:
        kind: Mapping[str, Any] = {"type": type_, "uniqueItems": True}
        return {**parameter, **kind} if self.dialect == "v2" else {**parameter, "schema": kind}


def _group_id(gvk: GVK) -> str:
    """The tag of a group version: `apps_v1`, `core_v1`, `rbacAuthorization_v1`."""
    parts = (gvk.group or "core").removesuffix(".k8s.io").split(".")
    name = parts[0] + "".join(part[:1].upper() + part[1:] for part in parts[1:])
    return f"{name}_{gvk.version}"
