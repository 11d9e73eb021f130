"""Whether a value fits its schema, in the words of kube-openapi (pkg/validation/validate, pkg/validation/errors).

On an update what has not changed is not looked at again (KEP-4008, ratcheting): an object that was valid once must not
become unchangeable when its schema is tightened.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import orjson

from engine.api.crd import formats, patterns
from engine.api.crd.structural import MISSING, Structural
from engine.api.errors import Cause, field_invalid, field_not_supported, field_required, field_too_many
from engine.api.validation.problems import Problems

_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def check_value(schema: Structural, value: Any, path: str, problems: Problems, *, old: Any = MISSING) -> None:
    """Adds what is wrong with a value. `old` is what was there before, MISSING for nothing that can be compared."""
    if old is not MISSING and old == value:
        return
    if value is None:
        _check_null(schema, path, problems)
        return
    _check_type(schema, value, path, problems)
    if isinstance(value, str):
        _check_string(schema, value, path, problems)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _check_number(schema, value, path, problems)
    elif isinstance(value, list):
        _check_list(schema, value, path, problems, old=old)
    _check_enum(schema, value, path, problems)
    if isinstance(value, dict):
        _check_object(schema, value, path, problems, old=old)
    _check_junctors(schema, value, path, problems)


def _body(path: str) -> str:
    return f"{path} in body"


def _wrong_type(path: str, wanted: str, shown: str) -> Cause:
    detail = f"{_body(path)} must be of type {wanted}: {orjson.dumps(shown).decode()}"
    made = field_invalid(path or "<nil>", shown, detail)
    return made._replace(reason="FieldValueTypeInvalid")


def _check_null(schema: Structural, path: str, problems: Problems) -> None:
    if schema.nullable or (not schema.type and not schema.int_or_string):
        return
    problems.append(_wrong_type(path, schema.type or "integer,string", "null"))


# -- types


def _check_type(schema: Structural, value: Any, path: str, problems: Problems) -> None:
    found = json_type(value)
    if schema.int_or_string and not schema.type:
        if found not in ("integer", "string"):
            problems.append(_wrong_type(path, "integer,string", found))
        return
    wanted = schema.type
    if not wanted or found == wanted or (wanted == "number" and found == "integer"):
        return
    problems.append(_wrong_type(path, wanted, found))


def json_type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


# -- scalars


def _check_string(schema: Structural, value: str, path: str, problems: Problems) -> None:
    raw = schema.raw
    limit = raw.get("maxLength")
    if limit is not None and len(value) > limit:
        text = f"Too long: may not be more than {limit} bytes"
        problems.append(Cause("FieldValueTooLong", text, path))
    least = raw.get("minLength")
    if least is not None and len(value) < least:
        problems.invalid(path, value, f"{_body(path)} should be at least {least} chars long")
    pattern = raw.get("pattern")
    if pattern and not patterns.matches(pattern, value):
        problems.invalid(path, value, f"{_body(path)} should match '{pattern}'")
    if schema.format and not formats.fits(schema.format, value):
        detail = f"{_body(path)} must be of type {schema.format}: {orjson.dumps(value).decode()}"
        problems.append(field_invalid(path, value, detail)._replace(reason="FieldValueTypeInvalid"))


def number_text(value: float) -> str:
    """A bound as Go's %v shows it: a whole number without a fraction."""
    return str(int(value)) if value == int(value) and abs(value) < 1e21 else repr(value)


def _check_number(schema: Structural, value: float, path: str, problems: Problems) -> None:
    raw = schema.raw
    multiple = raw.get("multipleOf")
    if multiple and not _is_multiple(value, multiple):
        problems.invalid(path, value, f"{_body(path)} should be a multiple of {number_text(multiple)}")
    high = raw.get("maximum")
    if high is not None:
        exclusive = raw.get("exclusiveMaximum")
        if value > high or (exclusive and value == high):
            words = "less than" if exclusive else "less than or equal to"
            problems.invalid(path, value, f"{_body(path)} should be {words} {number_text(high)}")
    low = raw.get("minimum")
    if low is not None:
        exclusive = raw.get("exclusiveMinimum")
        if value < low or (exclusive and value == low):
            words = "greater than" if exclusive else "greater than or equal to"
            problems.invalid(path, value, f"{_body(path)} should be {words} {number_text(low)}")
    bounds = _RANGES.get(schema.format) if schema.type == "integer" else None
    if bounds is not None and not bounds[0] <= value <= bounds[1]:
        problems.invalid(path, value, f"Checked value must be of type integer with format {schema.format} in {path}")


def _is_multiple(value: float, multiple: float) -> bool:
    if isinstance(value, int) and isinstance(multiple, int):
        return value % multiple == 0
    quotient = value / multiple
    return math.isclose(quotient, round(quotient), rel_tol=1e-12, abs_tol=1e-12)


def _check_enum(schema: Structural, value: Any, path: str, problems: Problems) -> None:
    allowed = schema.raw.get("enum")
    if not allowed or any(_same(value, item) for item in allowed):
        return
    shown = [item if isinstance(item, str) else orjson.dumps(item).decode() for item in allowed]
    problems.append(field_not_supported(path, value, shown))


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


# -- collections


def _check_list(schema: Structural, value: list[Any], path: str, problems: Problems, *, old: Any) -> None:
    raw = schema.raw
    if schema.items is not None:
        before = correlated(schema, value, old)
        for index, item in enumerate(value):
            check_value(schema.items, item, f"{path}[{index}]", problems, old=before[index])
    least = raw.get("minItems")
    if least is not None and len(value) < least:
        problems.invalid(path, len(value), f"{_body(path)} should have at least {least} items")
    limit = raw.get("maxItems")
    if limit is not None and len(value) > limit:
        problems.append(field_too_many(path, len(value), limit))
    if raw.get("uniqueItems") and len({orjson.dumps(item) for item in value}) < len(value):
        problems.invalid(path, value, f"{_body(path)} shouldn't contain duplicates")


def correlated(schema: Structural, new: list[Any], old: Any) -> list[Any]:
    """For every element the one that it was before; elements are known again in a list that is a map only."""
    if not isinstance(old, list) or schema.list_type != "map":
        return [MISSING] * len(new)
    known = {_key(schema, item): item for item in old if isinstance(item, dict)}
    return [known.get(_key(schema, item), MISSING) if isinstance(item, dict) else MISSING for item in new]


def _key(schema: Structural, item: Mapping[str, Any]) -> bytes:
    items = schema.items
    found = []
    for key in schema.list_map_keys:
        node = items.properties.get(key) if items is not None else None
        default = node.default if node is not None else MISSING
        found.append(item.get(key, None if default is MISSING else default))
    return orjson.dumps(found)


def _check_object(schema: Structural, value: dict[str, Any], path: str, problems: Problems, *, old: Any) -> None:
    raw = schema.raw
    for name in schema.required:
        if name not in value:
            problems.append(field_required(f"{path}.{name}" if path else name))
    before = old if isinstance(old, dict) and schema.map_type != "atomic" else {}
    for key, item in value.items():
        node = schema.child(key)
        if node is not None:
            check_value(node, item, f"{path}.{key}" if path else key, problems, old=before.get(key, MISSING))
    least = raw.get("minProperties")
    if least is not None and len(value) < least:
        problems.invalid(path, len(value), f"{_body(path)} should have at least {least} properties")
    limit = raw.get("maxProperties")
    if limit is not None and len(value) > limit:
        problems.append(field_too_many(path, len(value), limit))


# -- junctors


def _nothing(problems: Problems, text: str) -> None:
    problems.append(field_invalid("<nil>", "", text))


def _quoted(path: str) -> str:
    return orjson.dumps(path).decode()


def _check_junctors(schema: Structural, value: Any, path: str, problems: Problems) -> None:
    if schema.any_of:
        found, valid = _tried(schema.any_of, value, path)
        if not valid:
            _nothing(problems, f"{_quoted(path)} must validate at least one schema (anyOf)")
            problems.extend(_fewest(found))
    if schema.one_of:
        found, valid = _tried(schema.one_of, value, path)
        if valid != 1:
            how = f"Found {valid} valid alternatives" if valid else "Found none valid"
            _nothing(problems, f"{_quoted(path)} must validate one and only one schema (oneOf). {how}")
            if not valid:
                problems.extend(_fewest(found))
    if schema.all_of:
        found, valid = _tried(schema.all_of, value, path)
        for each in found:
            problems.extend(each)
        if valid != len(schema.all_of):
            how = "" if valid else ". None validated"
            _nothing(problems, f"{_quoted(path)} must validate all the schemas (allOf){how}")
    if schema.not_ is not None:
        found, valid = _tried((schema.not_,), value, path)
        if valid:
            _nothing(problems, f"{_quoted(path)} must not validate the schema (not)")


def _tried(schemas: tuple[Structural, ...], value: Any, path: str) -> tuple[list[Problems], int]:
    """What each of the schemas says, and how many say nothing."""
    found = []
    for schema in schemas:
        problems = Problems()
        check_value(schema, value, path, problems)
        found.append(problems)
    return found, sum(not problems for problems in found)


def _fewest(found: list[Problems]) -> Problems:
    """Of the alternatives that failed the one that fits best."""
    return min(found, key=len) if found else Problems()
