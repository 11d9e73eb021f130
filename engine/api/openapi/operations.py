"""How a route becomes an operation, and the routes of a path its path item, in OpenAPI v2 or v3.

Source: kube-openapi pkg/builder and pkg/builder3; for the names of operations apiserver pkg/endpoints/openapi
(GetOperationIDAndTags).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from engine.api.openapi.parameters import IN_PATH, PARAMETERS
from engine.api.openapi.schemas import PREFIX, Dialect
from engine.api.types import GVK, Object
from engine.api.wire import JSON

ANY = ("*/*",)
_VERBS = ("get", "read", "replace", "patch", "delete", "watch", "connect", "list", "create")
_NONE: Mapping[str, str] = {}


class Route(NamedTuple):
    """One method of a path. `name` is a verb and what it is done to, as in `listNamespacedPod`; `body` and `answer` are
    names of definitions, where "" is no body, and an answer that is a string; `others` are the answers besides 200."""

    method: str
    name: str
    description: str
    answer: str = ""
    action: str = ""
    gvk: GVK | None = None
    query: tuple[str, ...] = ()
    body: str = ""
    others: Mapping[str, str] = _NONE
    consumes: Sequence[str] = ANY
    produces: Sequence[str] = (JSON,)


def path_item(path: str, routes: Iterable[Route], dialect: Dialect, *, kind: str = "") -> Object:
    """The operations of a path. Parameters that all of them have are the path's; `kind` is what `{name}` names."""
    routes = list(routes)
    shared = [name for name in routes[0].query if all(name in route.query for route in routes)]
    item: Object = {route.method: _operation(path, route, dialect, shared) for route in routes}
    in_path = [_path_parameter(name, kind, dialect) for name in re.findall(r"\{(\w+)\}", path)]
    parameters = [*in_path, *(_query_parameter(name, dialect) for name in shared)]
    if parameters:
        item["parameters"] = sorted(parameters, key=_by_name)
    return item


def _operation(path: str, route: Route, dialect: Dialect, shared: Sequence[str]) -> Object:
    name, tag = _named(path, route.name)
    operation: Object = {"description": route.description, "operationId": name, "tags": [tag]}
    if route.action:
        operation["x-kubernetes-action"] = route.action
    if route.gvk is not None:
        group, version, kind = route.gvk
        operation["x-kubernetes-group-version-kind"] = {"group": group, "kind": kind, "version": version}
    parameters = [_query_parameter(name, dialect) for name in route.query if name not in shared]
    required = {} if route.method == "delete" else {"required": True}
    if route.body and dialect == "v2":
        parameters.append({"in": "body", "name": "body", "schema": _ref(route.body, dialect), **required})
    elif route.body:
        content = {media: {"schema": _ref(route.body, dialect)} for media in route.consumes}
        operation["requestBody"] = {"content": content, **required}
    if parameters:
        operation["parameters"] = sorted(parameters, key=_by_name)
    if dialect == "v2":
        operation |= {"consumes": list(route.consumes), "produces": list(route.produces), "schemes": ["https"]}
    answers = {code: _response(text, route, dialect) for code, text in {"200": "OK", **route.others}.items()}
    operation["responses"] = {**answers, "401": {"description": "Unauthorized"}}
    return operation


def _response(description: str, route: Route, dialect: Dialect) -> Object:
    schema = _ref(route.answer, dialect)
    if dialect == "v2":
        return {"description": description, "schema": schema}
    return {"content": {media: {"schema": schema} for media in route.produces}, "description": description}


def _ref(name: str, dialect: Dialect) -> Object:
    return {"$ref": PREFIX[dialect] + name} if name else {"type": "string"}


def _query_parameter(name: str, dialect: Dialect) -> Object:
    type_, description = PARAMETERS[name]
    return _parameter({"description": description, "in": "query", "name": name}, type_, dialect)


def _path_parameter(name: str, kind: str, dialect: Dialect) -> Object:
    described = IN_PATH[name].format(kind=kind)
    return _parameter({"description": described, "in": "path", "name": name, "required": True}, "string", dialect)


def _parameter(parameter: Object, type_: str, dialect: Dialect) -> Object:
    kind: Object = {"type": type_, "uniqueItems": True}
    return {**parameter, **kind} if dialect == "v2" else {**parameter, "schema": kind}


def _by_name(parameter: Object) -> str:
    return str(parameter["name"])


def _named(path: str, name: str) -> tuple[str, str]:
    """An operation's id and its tag: the group and the version of the path come after the verb."""
    verb = next(verb for verb in _VERBS if name.startswith(verb))
    parts = path.strip("/").split("/")
    if parts[0] == "api":
        parts = ["apis", "core", *parts[1:]]
    of = [parts[1].removesuffix(".k8s.io"), *parts[2:3]] if parts[0] == "apis" and len(parts) > 1 else []
    words = "".join(_capital(_joined(part)) for part in of)
    return f"{verb}{words}{_capital(name.removeprefix(verb))}", "_".join(map(_joined, of)) or _joined(parts[0])


def _joined(part: str) -> str:
    """`rbac.authorization` is `rbacAuthorization`, and `.well-known` is `WellKnown`."""
    first, *rest = re.split(r"[^0-9A-Za-z]", part)
    return first + "".join(map(_capital, rest))


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]
