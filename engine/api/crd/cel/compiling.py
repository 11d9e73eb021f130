"""Compiling rules, and what is said of those that do not compile.

Source of the texts: apiextensions-apiserver pkg/apiserver/schema/cel (compilation.go) and
pkg/apis/apiextensions/validation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from cel_expr_python import cel

from engine.api.crd.cel.fields import Typed, looked_up
from engine.api.crd.cel.library import extensions
from engine.api.crd.cel.syntax import read
from engine.api.crd.structural import Structural
from engine.api.types import Object
from engine.api.validation.problems import Problems

_TYPE = cel.Type
_HAS_INSTANTS = re.compile("TIMESTAMP|DURATION")
_WRAPPED = re.compile(r"^[A-Z_]+: |\s*\[[A-Z_]+\]$")
# With `optionalOldSelf` the old value is bound as an optional by a loop over a list of that one element: values of
# that type cannot be handed in.
_BEFORE = "[oldSelfThere ? optional.of(oldSelfValue) : optional.none()].map(oldSelf, ("
_AFTER = "))[0]"


class CompileError(ValueError):
    """The message is cel-go's."""


@dataclass(frozen=True, slots=True)
class Expression:
    program: Any
    uses_old: bool
    optional: bool

    def run(self, own: Any, old: Any, *, there: bool) -> Any:
        """The CEL value of the expression, in which an error is a value too."""
        if self.optional:
            data = {"self": own, "oldSelfThere": there, "oldSelfValue": old if there else None}
        else:
            data = {"self": own, "oldSelf": old} if there else {"self": own}
        return self.program.eval(data=data)


def self_type(schema: Structural) -> Any:
    """The CEL type of a node's values; fields of objects are left to `fields`."""
    if schema.int_or_string:
        return _TYPE.DYN
    match schema.type:
        case "string":
            return _STRINGS.get(schema.format, _TYPE.STRING)
        case "integer":
            return _TYPE.INT
        case "number":
            return _TYPE.DOUBLE
        case "boolean":
            return _TYPE.BOOL
        case "array" if schema.items is not None:
            return _TYPE.List(self_type(schema.items))
        case "object" if schema.values is not None:
            return _TYPE.Map(_TYPE.STRING, self_type(schema.values))
        case "object":
            return _TYPE.Map(_TYPE.STRING, _TYPE.DYN)
    return _TYPE.DYN


_STRINGS = {
    "byte": _TYPE.BYTES,
    "date": _TYPE.TIMESTAMP,
    "date-time": _TYPE.TIMESTAMP,
    "datetime": _TYPE.TIMESTAMP,
    "duration": _TYPE.DURATION,
}


def compiled(
    source: str, schema: Structural, *, root: bool, optional: bool = False, wanted: str = "BOOL"
) -> Expression:
    """Raises CompileError."""
    whole, own = (f"{_BEFORE}{source}{_AFTER}" if optional else source), self_type(schema)
    try:
        checked = _environment(own).compile(whole)
    except RuntimeError as error:
        text = _WRAPPED.sub("", str(error)).strip()
        raise CompileError(f"compilation failed: {_unwrapped(text) if optional else text}") from None
    tree = read(checked.serialize())
    found = looked_up(tree, whole, Typed(schema, resource=root))
    if found.errors:
        texts = "\n".join(found.errors)
        raise CompileError(f"compilation failed: {_unwrapped(texts) if optional else texts}")
    if checked.return_type().name() not in (wanted, "DYN"):
        raise CompileError(f"cel expression must evaluate to a {wanted.lower()}")
    uses_old = "oldSelf" in source if optional else "oldSelf" in tree.names()
    if found.instants or _HAS_INSTANTS.search(str(own)):
        for place, made in sorted(set(found.instants), reverse=True):
            whole = f"{whole[:place]}.{made}(){whole[place:]}"
        checked = _environment(_TYPE.DYN).compile(whole)
    return Expression(checked, uses_old, optional)


def _unwrapped(text: str) -> str:
    """The error of a rule that stood within a loop, as of the rule alone."""
    width = len(_BEFORE)
    text = text.replace(_BEFORE, "").replace(_AFTER, "").replace(f" | {'.' * width}", " | ")
    return re.sub(r"<input>:1:(\d+)", lambda match: f"<input>:1:{int(match[1]) - width}", text)


_environments: dict[str, Any] = {}


def _environment(own: Any) -> Any:
    known = _environments.get(str(own))
    if known is None:
        variables = {"self": own, "oldSelf": own, "oldSelfValue": own, "oldSelfThere": _TYPE.BOOL}
        known = _environments[str(own)] = cel.NewEnv(variables=variables, extensions=extensions())
    return known


# -- at the definition


def check_rules(schema: Structural, path: str, problems: Problems, *, root: bool, lost: str = "") -> None:
    """Compile every rule of a schema. `lost` is the path within which old and new values cannot be matched."""
    if not schema.has_rules:
        return
    for index, rule in enumerate(schema.rules):
        _check_rule(schema, rule, f"{path}.x-kubernetes-validations[{index}]", problems, root=root, lost=lost)
    for name, node in schema.properties.items():
        check_rules(node, f"{path}.properties[{name}]", problems, root=node.embedded, lost=_lost(schema, path, lost))
    if schema.values is not None:
        below = f"{path}.additionalProperties"
        check_rules(schema.values, below, problems, root=schema.values.embedded, lost=_lost(schema, path, lost))
    if schema.items is not None:
        within = lost or ("" if schema.list_type == "map" else f"{path}.items")
        check_rules(schema.items, f"{path}.items", problems, root=schema.items.embedded, lost=within)


def _lost(schema: Structural, path: str, lost: str) -> str:
    return lost or (path if schema.map_type == "atomic" else "")


def _check_rule(schema: Structural, rule: Object, path: str, problems: Problems, *, root: bool, lost: str) -> None:
    optional = bool(rule.get("optionalOldSelf"))
    try:
        expression = compiled(rule["rule"].strip(), schema, root=root, optional=optional)
    except CompileError as error:
        problems.invalid(f"{path}.rule", rule, str(error))
        return
    if expression.uses_old and lost:
        text = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {lost}"
        problems.invalid(f"{path}.rule", rule["rule"], text)
    if optional and not expression.uses_old:
        problems.invalid(f"{path}.optionalOldSelf", True, "may not be set if oldSelf is not used in rule")
    message = rule.get("messageExpression", "")
    if message:
        try:
            compiled(message.strip(), schema, root=root, wanted="STRING")
        except CompileError as error:
            problems.invalid(f"{path}.messageExpression", rule, f"messageExpression {error}")
    field = rule.get("fieldPath", "")
    if field and (wrong := _wrong_path(field, schema)):
        problems.invalid(f"{path}.fieldPath", field, f"fieldPath must be a valid path: {wrong}")


_STEP = re.compile(r"\.([^.\[\]']+)|\['((?:\\.|[^'\\])*)'\]")


def field_steps(path: str) -> list[tuple[str, bool]] | None:
    """The names on a path, and whether each stood in brackets; None for what is no such path."""
    steps, place = [], 0
    while place < len(path):
        match = _STEP.match(path, place)
        if match is None:
            return None
        bracket = match[2] is not None
        steps.append((re.sub(r"\\(.)", r"\1", match[2]) if bracket else match[1], bracket))
        place = match.end()
    return steps


def _wrong_path(path: str, schema: Structural) -> str:
    steps = field_steps(path)
    if steps is None:
        return f"expected [ or . but got: {path[:1]}"
    node: Structural | None = schema
    for name, _ in steps:
        node = node.child(name) if node is not None else None
        if node is None:
            return "does not refer to a valid field"
    return ""
