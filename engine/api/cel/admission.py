"""The expressions of admission: policies and match conditions. What they know, and what they must come to.

Source: apiserver pkg/admission/plugin/cel/compile.go, composition.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from engine.api.cel import types
from engine.api.cel.environment import Environment, Program
from engine.api.cel.library.authorization import AUTHORIZER, RESOURCE_CHECK
from engine.api.cel.releases import Release
from engine.api.cel.syntax import CompileError
from engine.api.cel.types import BOOL, DYN, INT, STRING, STRINGS, TIMESTAMP, Type, list_of, map_of, struct

_NAMESPACE, _REQUEST, VARIABLES = (
    struct("kubernetes.Namespace"), struct("kubernetes.AdmissionRequest"), struct("kubernetes.variables"),
)  # fmt: skip
_GVK, _GVR = struct("kubernetes.GroupVersionKind"), struct("kubernetes.GroupVersionResource")
_USER, _CONDITION = struct("kubernetes.UserInfo"), struct("kubernetes.NamespaceCondition")
_STRUCTS: Mapping[str, Mapping[str, Type]] = {
    _GVK.name: dict.fromkeys(("group", "version", "kind"), STRING),
    _GVR.name: dict.fromkeys(("group", "version", "resource"), STRING),
    _USER.name: {"username": STRING, "uid": STRING, "groups": STRINGS, "extra": map_of(STRING, STRINGS)},
    _REQUEST.name: {
        "kind": _GVK,
        "resource": _GVR,
        "subResource": STRING,
        "requestKind": _GVK,
        "requestResource": _GVR,
        "requestSubResource": STRING,
        "name": STRING,
        "namespace": STRING,
        "operation": STRING,
        "userInfo": _USER,
        "dryRun": BOOL,
        "options": DYN,
    },
    _CONDITION.name: {
        "status": STRING,
        "type": STRING,
        "lastTransitionTime": TIMESTAMP,
        "message": STRING,
        "reason": STRING,
    },
    "kubernetes.NamespaceSpec": {"finalizers": STRINGS},
    "kubernetes.NamespaceStatus": {"conditions": list_of(_CONDITION), "phase": STRING},
    "kubernetes.NamespaceMetadata": {
        "name": STRING,
        "generateName": STRING,
        "namespace": STRING,
        "labels": map_of(STRING, STRING),
        "annotations": map_of(STRING, STRING),
        "UID": STRING,
        "creationTimestamp": TIMESTAMP,
        "deletionGracePeriodSeconds": INT,
        "deletionTimestamp": TIMESTAMP,
        "generation": INT,
        "resourceVersion": STRING,
        "finalizers": STRINGS,
    },
    _NAMESPACE.name: {
        "metadata": struct("kubernetes.NamespaceMetadata"),
        "spec": struct("kubernetes.NamespaceSpec"),
        "status": struct("kubernetes.NamespaceStatus"),
    },
}


class Scope(NamedTuple):
    """What an expression may speak of besides the request and its objects; `variables` are a policy's own, by type.
    `release` is the one in which it is new."""

    params: bool = False
    authorizer: bool = False
    patches: bool = False
    variables: tuple[tuple[str, Type], ...] | None = None
    release: Release | None = None

    def knowing(self, name: str, type_: Type | None) -> Scope:
        """With one more variable, whose type is not known where its expression is wrong. Of types only those of plain
        values and of what is made of them are kept (composition.go, convertCelTypeToDeclType)."""
        known = DYN if type_ is None else _kept(type_)
        return self._replace(variables=(*(self.variables or ()), (name, known)))


_PLAIN = frozenset((types.ANY, BOOL, types.BYTES, types.DOUBLE, types.DURATION, INT, types.NULL, STRING, TIMESTAMP,
                    types.UINT))  # fmt: skip


def _kept(type_: Type) -> Type:
    if type_ in _PLAIN:
        return type_
    if type_.kind in ("list", "map"):
        return Type(type_.kind, params=tuple(map(_kept, type_.params)))
    return DYN


def environment(
    scope: Scope,
    *,
    object_type: Type = DYN,
    params_type: Type = DYN,
    structs: Mapping[str, Mapping[str, Type]] | None = None,
    request_check: bool = True,
) -> Environment:
    """`request_check` says that the authorizer knows the request's own resource."""
    variables = {"object": object_type, "oldObject": object_type, "namespaceObject": _NAMESPACE, "request": _REQUEST}
    if scope.params:
        variables["params"] = params_type
    if scope.authorizer:
        variables["authorizer"] = AUTHORIZER
    if scope.authorizer and request_check:
        variables["authorizer.requestResource"] = RESOURCE_CHECK
    known = {**_STRUCTS, **(structs or {})}
    if scope.variables is not None:
        variables["variables"] = VARIABLES
        known[VARIABLES.name] = dict(scope.variables)
    return Environment(variables, structs=known, literals=scope.patches, release=scope.release)


@lru_cache(maxsize=512)
def _environment(scope: Scope) -> Environment:
    return environment(scope)


@lru_cache(maxsize=2048)
def compiled(source: str, scope: Scope, wanted: tuple[Type, ...] = ()) -> Program:
    """An expression that comes to one of the wanted types, or to any if none is named. Raises CompileError."""
    program = _environment(scope).compile(source)
    if wanted and program.result not in wanted:
        names = [_named(type_) for type_ in wanted]
        what = names[0] if len(names) == 1 else f"one of [{' '.join(names)}]"
        raise CompileError(f"must evaluate to {what} but got {_named(program.result)}")
    return program


def _named(type_: Type) -> str:
    """As Go prints a type: what checks call timestamp, duration and null bears the name that values of it have."""
    if type_.params:
        name = type_.name or type_.kind
        return f"{name}({', '.join(map(_named, type_.params))})"
    return type_.type_name if type_.kind in ("null", "timestamp", "duration") else str(type_)


def with_variables(scope: Scope, variables: list[tuple[str, str]]) -> tuple[Scope, dict[str, Program], dict[str, str]]:
    """The scope that knows a policy's variables, which may speak of those before them; the variables, and for those
    that do not compile what is wrong with them."""
    scope = scope._replace(variables=())
    programs, wrong = {}, {}
    for name, expression in variables:
        try:
            programs[name] = compiled(expression, scope)
        except CompileError as error:
            wrong[name] = str(error)
        scope = scope.knowing(name, programs[name].result if name in programs else None)
    return scope, programs, wrong
