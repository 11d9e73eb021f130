"""What is wrong with a policy's expressions for the kinds that it is about: warnings, since a policy may be for more.

Source: apiserver pkg/admission/plugin/policy/validating/typechecking.go.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from engine.api.cel.admission import Scope, environment
from engine.api.cel.environment import Environment
from engine.api.cel.schema_types import Structs, type_of_kind
from engine.api.cel.syntax import CompileError
from engine.api.cel.types import DYN, Type
from engine.api.schema import Schema
from engine.api.types import GVK, GVR, Object

_MOST_KINDS = 10
KindsOf = Callable[[GVR], list[GVK]]
SchemaOf = Callable[[GVK], Schema | None]


def expression_warnings(policy: Object, kinds_of: KindsOf, schema_of: SchemaOf) -> list[Object]:
    """As `status.typeChecking.expressionWarnings` has them."""
    spec = policy["spec"]
    checkers = [_Checker(spec, gvk, schema_of) for gvk in _kinds(spec, kinds_of) if schema_of(gvk) is not None]
    warnings = []
    for index, validation in enumerate(spec.get("validations") or ()):
        for field in ("expression", "messageExpression"):
            if not validation.get(field):
                continue
            found = [text for checker in checkers if (text := checker.warning(validation[field]))]
            if found:
                warnings.append({"fieldRef": f"spec.validations[{index}].{field}", "warning": "\n".join(found)})
    return warnings


def _kinds(spec: Object, kinds_of: KindsOf) -> list[GVK]:
    """Those that the rules name without wildcards. A rule that names too many is the last one."""
    found: set[GVK] = set()
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        groups, versions = rule.get("apiGroups") or (), rule.get("apiVersions") or ()
        if any("*" in each for each in (*groups, *versions)):
            continue
        resources = [each for each in rule.get("resources") or () if not set("*/") & set(each)]
        places = product(sorted(groups), sorted(versions), sorted(resources))
        named = [gvk for names in places for gvk in kinds_of(GVR(*names))]
        found |= set(named[:_MOST_KINDS])
        if len(named) >= _MOST_KINDS:
            break
    return sorted(found)


class _Checker:
    """Checks expressions for one kind."""

    def __init__(self, spec: Object, gvk: GVK, schema_of: SchemaOf) -> None:
        self._gvk = gvk
        structs: Structs = {}
        object_type = _typed(schema_of(gvk), gvk, structs)
        params_type = _params(spec.get("paramKind"), schema_of, structs)
        scope = Scope(params=params_type is not None, authorizer=True, variables=())
        for variable in (*(spec.get("variables") or ()), None):
            self._environment = environment(
                scope, object_type=object_type, params_type=params_type or DYN, structs=structs, request_check=False
            )
            if variable is not None:
                scope = _with_variable(scope, self._environment, variable)

    def warning(self, expression: str) -> str:
        try:
            self._environment.compile(expression)
        except CompileError as error:
            told = str(error).removeprefix("compilation failed: ")
            return f"{self._gvk.group}/{self._gvk.version}, Kind={self._gvk.kind}: {told}\n"
        return ""


def _typed(schema: Schema | None, gvk: GVK, structs: Structs) -> Type:
    if schema is None:
        return DYN
    found, more = type_of_kind(schema, gvk.kind)
    structs.update(more)
    return found


def _params(kind: Object | None, schema_of: SchemaOf, structs: Structs) -> Type | None:
    """None for a policy without parameters, or whose parameters' schema is not known."""
    if kind is None:
        return None
    group, _, version = kind["apiVersion"].rpartition("/")
    gvk = GVK(group, version, kind["kind"])
    schema = schema_of(gvk)
    return _typed(schema, gvk, structs) if schema is not None else None


def _with_variable(scope: Scope, known: Environment, variable: Object) -> Scope:
    try:
        type_: Type | None = known.compile(variable["expression"].strip()).result
    except CompileError:
        type_ = None
    return scope.knowing(variable["name"], type_)
