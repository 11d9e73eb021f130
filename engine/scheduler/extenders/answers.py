"""What an extender answers, checked as Go's decoder does it: the first value that is not of its field's type is named.

Source: kube-scheduler/extender/v1 types.go (the types), encoding/json decode.go (UnmarshalTypeError). Keys are taken
whatever their case, null is taken for nothing, and what no field is there for is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple


class Kind(Enum):
    STRUCT = "object"
    MAP = "map"
    SLICE = "array"
    STRING = "string"
    INTEGER = "integer"


class GoType(NamedTuple):
    """`of` is the type of a map's values or a slice's elements; `fields` are those of a struct."""

    name: str
    kind: Kind
    of: GoType | None = None
    fields: Mapping[str, GoType] = {}


_TEXT = GoType("string", Kind.STRING)
_NUMBER = GoType("int64", Kind.INTEGER)
_REASONS = GoType("v1.FailedNodesMap", Kind.MAP, _TEXT)
_NODE = GoType(
    "v1.Node", Kind.STRUCT, fields={"metadata": GoType("v1.ObjectMeta", Kind.STRUCT, fields={"name": _TEXT})}
)
_NODES = GoType("v1.NodeList", Kind.STRUCT, fields={"items": GoType("[]v1.Node", Kind.SLICE, _NODE)})
_POD = GoType("v1.MetaPod", Kind.STRUCT, fields={"UID": _TEXT})
_VICTIMS = GoType(
    "v1.MetaVictims",
    Kind.STRUCT,
    fields={"Pods": GoType("[]*v1.MetaPod", Kind.SLICE, _POD), "NumPDBViolations": _NUMBER},
)
_PRIORITY = GoType("v1.HostPriority", Kind.STRUCT, fields={"Host": _TEXT, "Score": _NUMBER})

FILTER_RESULT = GoType(
    "v1.ExtenderFilterResult",
    Kind.STRUCT,
    fields={
        "Nodes": _NODES,
        "NodeNames": GoType("[]string", Kind.SLICE, _TEXT),
        "FailedNodes": _REASONS,
        "FailedAndUnresolvableNodes": _REASONS,
        "Error": _TEXT,
    },
)
PRIORITIES = GoType("v1.HostPriorityList", Kind.SLICE, _PRIORITY)
BINDING_RESULT = GoType("v1.ExtenderBindingResult", Kind.STRUCT, fields={"Error": _TEXT})
PREEMPTION_RESULT = GoType(
    "v1.ExtenderPreemptionResult",
    Kind.STRUCT,
    fields={"NodeNameToMetaVictims": GoType("map[string]*v1.MetaVictims", Kind.MAP, _VICTIMS)},
)


def type_error(value: Any, wanted: GoType, struct: str = "", path: tuple[str, ...] = ()) -> str:
    """What does not fit, in Go's words; empty where all does. `struct` and `path` say in which field it is."""
    if value is None:
        return ""
    if not _fits(value, wanted.kind):
        where = f"struct field {struct}.{'.'.join(path)}" if struct else "value"
        return f"json: cannot unmarshal {_shown(value, wanted.kind)} into Go {where} of type {wanted.name}"
    if wanted.kind is Kind.STRUCT:
        return _of_fields(value, wanted, path)
    if wanted.of is None:
        return ""
    parts = value.values() if wanted.kind is Kind.MAP else value
    return next(filter(None, (type_error(part, wanted.of, struct, path) for part in parts)), "")


def _of_fields(value: Mapping[str, Any], wanted: GoType, path: tuple[str, ...]) -> str:
    struct = wanted.name.removeprefix("v1.")
    known = {name.lower(): name for name in wanted.fields}
    for key, item in value.items():
        name = known.get(key.lower())
        if name is not None and (found := type_error(item, wanted.fields[name], struct, (*path, name))):
            return found
    return ""


def _fits(value: Any, kind: Kind) -> bool:
    match kind:
        case Kind.STRUCT | Kind.MAP:
            return isinstance(value, dict)
        case Kind.SLICE:
            return isinstance(value, list)
        case Kind.STRING:
            return isinstance(value, str)
        case Kind.INTEGER:
            return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: Any, wanted: Kind) -> str:
    """The kind of a value; a number that is only not whole is shown."""
    match value:
        case bool():
            return "bool"
        case int() | float():
            return f"number {value}" if wanted is Kind.INTEGER else "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"
