"""What Go makes of a field: its type, as error texts name it (see also `go_fields`), and whether a zero value is kept.

A zero value in a field that is no pointer (`omitempty`) is gone after one round trip through a Go struct.
"""

from __future__ import annotations

from engine.api.schema import Schema

_INTEGERS = {"int32": "int32", "int64": "int64", "": "int64"}
_NUMBERS = {"double": "float64", "": "float64"}

# Lists that must be there, of which an empty one is none once it has been stored, as protobuf. (`golang.fields` knows
# the plain values whose zero does not survive; what neither names is kept as it is given, since to drop a `false` or ""
# that means something, a pointer's, would change the object.)
ZERO_DROPPED = frozenset({("CSINodeSpec", "drivers"), ("LimitRangeSpec", "limits"), ("PodFailurePolicy", "rules")})
# Fields with `omitempty` of which an empty one is not none: it keeps the default away, or is shown in an error.
EMPTY_KEPT = frozenset(
    {("HPAScalingRules", "policies"), ("PersistentVolumeSpec", "capacity"), ("JSONSchemaProps", "dependencies")}
)
# Structs without any field, which take in nothing.
FIELDLESS = frozenset({"CustomResourceSubresourceStatus"})


def short_name(definition: str) -> str:
    """The last part of a definition's name: `DeploymentSpec`."""
    return definition.rpartition(".")[2]


def go_type(schema: Schema) -> str:
    """The Go type of a value, as reflect names it: `v1.PodSpec`, `[]v1.Container`, `map[string]string`, `int32`."""
    if schema.quantity:
        return "resource.Quantity"
    if schema.int_or_string:
        return "intstr.IntOrString"
    if schema.type == "array":
        return f"[]{go_type(schema.items) if schema.items else 'interface {}'}"
    if schema.type == "object" and schema.values is not None and not schema.properties:
        return _map_type(schema)
    if schema.definition:
        return ".".join(schema.definition.rsplit(".", 2)[-2:])
    return _plain_type(schema)


def _map_type(schema: Schema) -> str:
    assert schema.values is not None
    if schema.values.quantity:
        return "v1.ResourceList"
    return f"map[string]{go_type(schema.values)}"


def _plain_type(schema: Schema) -> str:
    match schema.type:
        case "integer":
            return _INTEGERS.get(schema.format, "int64")
        case "number":
            return _NUMBERS.get(schema.format, "float64")
        case "boolean":
            return "bool"
        case "string" if schema.format == "byte":
            return "[]uint8"
        case "string":
            return "string"
    return "interface {}"
