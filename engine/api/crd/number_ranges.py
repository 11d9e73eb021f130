"""Whether numbers, and what bounds them, are in the range of the format that a schema gives them, as from 1.36 on, and
integers in that of 64 bits.

Source of the behaviour: kube-openapi pkg/validation/validate/values.go (IsValueValidAgainstRange) and
apiextensions-apiserver pkg/apiserver/validation/formats.go.
"""

from __future__ import annotations

from decimal import Decimal

from engine.api.crd.structural import Structural
from engine.api.errors import Cause, field_invalid

ENFORCED_SINCE = (1, 36)
# The path of an error that upstream gives none: what is wrong it tells in the text alone.
NOWHERE = "<nil>"

_FORMATS = {"integer": ("int32", "int64"), "number": ("float", "double")}
_DEFAULT = "int64"  # of integers
_BITS = {"int32": 31, "int64": 63}
# From here on the nearest number of a single precision is infinity.
_SINGLE_END = float.fromhex("0x1.ffffffp127")
_TEXT = " value must be of type "


def ranged(schema: Structural) -> bool:
    """Whether the format is one that bounds the type."""
    return not schema.int_or_string and schema.format in _FORMATS.get(schema.type, ())


def out_of_range(schema: Structural, value: float, path: str, *, what: str = "Checked") -> Cause | None:
    """`what` the value is: what is checked, or a bound."""
    bounded = ranged(schema)
    if not bounded and (schema.type != "integer" or schema.int_or_string):
        return None
    if _fits(schema.format if bounded else _DEFAULT, value):
        return None
    told = f"with format {schema.format}" if bounded else "(default format)"
    text = f"{what}{_TEXT}{schema.type} {told} in {path}"
    return field_invalid(NOWHERE, "", text)


def tells_format(cause: Cause) -> bool:
    """Whether it is of a format, which bounds nothing before; what is told of integers without one always was."""
    return cause.field == NOWHERE and _TEXT in cause.message and " with format " in cause.message


def _fits(format_: str, value: float) -> bool:
    bits = _BITS.get(format_)
    if bits is None:
        return format_ == "double" or abs(value) < _SINGLE_END
    digits = Decimal(repr(value))
    return digits == digits.to_integral_value() and -(1 << bits) <= digits < 1 << bits
