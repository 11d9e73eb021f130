"""CEL in admission: match conditions, validations, variables, messages (apiserver pkg/admission/plugin/cel).

All variables are dynamic here, so a field that no object can have is an error when the expression runs, not when it is
compiled. The variable `authorizer` is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from cel_expr_python import cel

from engine.api.crd.cel.library import extensions
from engine.api.types import Object

_NAMES = ("object", "oldObject", "request", "params", "namespaceObject", "variables")
_CODES = re.compile(r"^[A-Z_]+: |\s*\[[A-Z_]+\]$")
_MISSING_KEY = re.compile(r'Key not found in map : "?([^"]*)"?')


class ExpressionError(Exception):
    """The expression did not compile, or failed."""


@lru_cache(maxsize=1)
def _environment() -> Any:
    text = cel.Type.STRING
    escape = cel.Overload("escape_key", return_type=text, parameters=[text], is_member=False, impl=_escaped)
    own = cel.CelExtension("admission", [cel.FunctionDecl("kubernetesEscapeKey", [escape])])
    return cel.NewEnv(variables=dict.fromkeys(_NAMES, cel.Type.DYN), extensions=[*extensions(), own])


def _escaped(key: str) -> str:
    """`jsonpatch.escapeKey`: a key as a step of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


@lru_cache(maxsize=2048)
def _compiled(source: str) -> Any:
    try:
        return _environment().compile(source)
    except RuntimeError as error:
        raise ExpressionError(f"compilation failed: {_CODES.sub('', str(error)).strip()}") from None


def evaluate(source: str, values: Object) -> Any:
    """Raises ExpressionError."""
    result = _compiled(source).eval(data={name: values.get(name) for name in _NAMES})
    if result.type().name() == "ERROR":
        text = _CODES.sub("", str(result.value()))
        raise ExpressionError(_MISSING_KEY.sub(r"no such key: \1", text))
    return result.plain_value() if hasattr(result, "plain_value") else _plain(result.value())


def _plain(value: Any) -> Any:
    """Lists and maps as Python's own."""
    if hasattr(value, "value"):
        return _plain(value.value())
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def with_variables(values: Object, variables: Iterable[Object]) -> Object:
    """The values with the composed variables of a policy. One that fails is missing to those who use it."""
    known: Object = {}
    values = {**values, "variables": known}
    for variable in variables:
        try:
            known[variable["name"]] = evaluate(variable["expression"], values)
        except ExpressionError:
            continue
    return values


def unmet(conditions: Iterable[Object], values: Object) -> bool:
    """Whether a match condition says no. One that fails counts only if none says no. Raises ExpressionError."""
    failures: list[str] = []
    for condition in conditions:
        try:
            if evaluate(condition["expression"], values) is not True:
                return True
        except ExpressionError as error:
            failures.append(f"expression '{condition['expression']}' resulted in error: {error}")
    if failures:
        raise ExpressionError(failures[0] if len(failures) == 1 else f"[{', '.join(failures)}]")
    return False


def values_of(*, obj: Object | None, old: Object | None, request: Object) -> Object:
    """What expressions know of a request; policies add parameters, the namespace and variables."""
    return {"object": obj, "oldObject": old, "request": request, "variables": {}}
