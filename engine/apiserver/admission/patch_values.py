"""What a JSON patch that is written in CEL says as JSON.

Source: apiserver pkg/admission/plugin/policy/mutating/patch/json_patch.go, pkg/cel/mutation (jsonpatch.go,
dynamic/objects.go); cel-go common/types (ConvertToNative for a google.protobuf.Value).
"""

from __future__ import annotations

import math
from base64 import b64encode
from typing import Any

from engine.api.cel.times import shown_duration, shown_timestamp
from engine.api.cel.values import Duration, Opaque, Optional, Struct, Timestamp, of_key, type_of
from engine.api.crd.cel.escaping import unescaped
from engine.api.types import Object
from engine.apiserver.admission.expression_errors import ExpressionError
from engine.apiserver.admission.expressions import check_object

_NO_JSON = "JSONPath valueExpression evaluated to a type that could not marshal to JSON: "
_SAFE = 2**53 - 1  # beyond it, a number of JSON is no longer exact
_GO_TIMES = {Timestamp: "time.Time", Duration: "time.Duration"}


def operations_of(made: list[Any], expression: str) -> list[Object]:
    """Those of the patch that this expression has made. Raises ExpressionError."""
    return [_operation(each, expression) for each in made]


def _operation(made: Object, expression: str) -> Object:
    for name in ("op", "path", "from"):
        if not isinstance(made.get(name, ""), str):
            why = f"unexpected type {type_of(made[name]).kind} for JSONPatchType '{name}' field"
            raise ExpressionError(f"expression '{expression}' resulted in error: {why}")
    operation: Object = {"op": made.get("op", ""), "path": made.get("path", "")}
    if made.get("from"):
        operation["from"] = made["from"]
    if "value" in made:
        value = made["value"]
        if isinstance(value, Struct):
            check_object(value, value.name)
        try:
            operation["value"] = _json(value)
        except _NotJSONError as error:
            raise ExpressionError(f"{_NO_JSON}{error}") from None
    return operation


class _NotJSONError(Exception):
    """The message is cel-go's."""


def _json(value: Any) -> Any:
    match value:
        case None | bool() | str():
            return value
        case int():
            return int(value) if abs(value) <= _SAFE else str(int(value))
        case float():
            return _number(value)
        case bytes():
            return b64encode(value).decode()
        case Timestamp():
            return shown_timestamp(value)
        case Duration():
            return shown_duration(value)
        case Optional():
            if not value.there:
                raise _NotJSONError("optional.none() dereference")
            return _json(value.value)
        case Struct():
            return _object(value)
        case dict():
            return {_key(of_key(key)): _json(item) for key, item in value.items()}
        case list():
            return [_json(item) for item in value]
        case Opaque():
            name = type_of(value).name.rpartition(".")[2]
            raise _NotJSONError(f"type conversion error from '{name}' to '*structpb.Value'")
    raise _NotJSONError(f"type conversion not supported for '{type_of(value).kind}'")


def _number(value: float) -> int | float:
    """A whole number has no point, up to where Go shows an exponent."""
    if not math.isfinite(value):
        shown = "NaN" if math.isnan(value) else f"{'+' if value > 0 else '-'}Inf"
        raise _NotJSONError(
            "json: error calling MarshalJSON for type *structpb.Value: proto: google.protobuf.Value.number_value "
            f"cannot have {shown} value"
        )
    return int(value) if value.is_integer() and abs(value) < 2**63 else value


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, bool):
        raise _NotJSONError("type conversion error from bool to 'string'")
    raise _NotJSONError(f"unsupported type conversion from '{type_of(key).kind}' to string")


def _object(value: Struct) -> Object:
    return {unescaped(name): _field(item) for name, item in value.items()}


def _field(value: Any) -> Any:
    """The fields of a literal are read as Go's own values are, of which those of time are not JSON."""
    if isinstance(value, Struct):
        return _object(value)
    if isinstance(value, list):
        return [_field(item) for item in value]
    if isinstance(value, dict):
        return {_key(name): _field(item) for name, item in value.items()}
    if isinstance(value, Timestamp | Duration):
        raise _NotJSONError(f"proto: invalid type: {_GO_TIMES[type(value)]}")
    if isinstance(value, int) and not isinstance(value, bool):
        return _number(float(value))
    return _json(value)
