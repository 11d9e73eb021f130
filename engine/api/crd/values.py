"""Whether a value fits its schema, in the words of kube-openapi (pkg/validation/validate, pkg/validation/errors)."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from engine.api.crd import formats, patterns
from engine.api.crd.correlation import correlated, unchanged
from engine.api.crd.number_ranges import NOWHERE, ranged
from engine.api.crd.numbers import check_number, in_body, is_whole
from engine.api.crd.structural import MISSING, Structural
from engine.api.errors import Cause, field_invalid, field_not_supported, field_type_invalid
from engine.api.golang.floats import WholeFloat
from engine.api.validation.problems import Problems

_GO_FORMATS = {"integer": "int64", "number": "float64"}


def check_value(schema: Structural, value: Any, path: str, problems: Problems, *, old: Any = MISSING) -> int:
    """Adds what is wrong with a value. `old` is what was there before, MISSING for nothing that can be compared.

    The answer is how many checks were made, by which upstream tells what comes closest (Result.MatchCount).
    """
    known = len(problems)
    made = _check(schema, value, path, problems, old=old)
    if len(problems) > known and old is not MISSING and unchanged(schema, old, value):
        del problems[known:]
    return made


def _check(schema: Structural, value: Any, path: str, problems: Problems, *, old: Any) -> int:
    if value is None:
        return _check_null(schema, path, problems)
    made = 2 + _check_type(schema, value, path, problems)
    made += 2 + _check_junctors(schema, value, path, problems)
    if isinstance(value, str):
        _check_string(schema, value, path, problems)
        made += 1 + _check_format(schema, value, path, problems)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        check_number(schema, value, path, problems)
        made += 2
    elif isinstance(value, list):
        made += 2 + _check_list(schema, value, path, problems, old=old)
    _check_enum(schema, value, path, problems)
    if isinstance(value, dict):
        made += 1 + _check_object(schema, value, path, problems, old=old)
    return made


def _wrong_type(path: str, wanted: str, shown: str) -> Cause:
    detail = f"{in_body(path)} must be of type {wanted}: {orjson.dumps(shown).decode()}"
    return field_type_invalid(path or "<nil>", shown, detail)


def _check_null(schema: Structural, path: str, problems: Problems) -> int:
    """Of null nothing but its type and an enumeration are looked at."""
    _check_enum(schema, None, path, problems)
    if schema.nullable or (not schema.type and not schema.int_or_string):
        return 1
    problems.append(_wrong_type(path, schema.type or "integer,string", "null"))
    return 0


# -- types


def _check_type(schema: Structural, value: Any, path: str, problems: Problems) -> int:
    wanted = ("integer", "string") if schema.int_or_string else (schema.type,) if schema.type else ()
    if not wanted:
        return 0
    found = json_type(value)
    if found in wanted or (found == "integer" and wanted == ("number",)):
        return 1
    if found == "number" and "integer" in wanted and is_whole(float(value)):
        return 1
    format_ = _format(schema)
    if format_ and not isinstance(value, str | list):
        problems.append(_wrong_type(path, format_, _GO_FORMATS.get(found, "")))
    elif format_ and schema.type not in ("integer", "number"):
        return 1  # who has a format may be any text or list, as far as types go
    else:
        problems.append(_wrong_type(path, ",".join(wanted), found))
    return 0


def _format(schema: Structural) -> str:
    """The format, if it is one that there is for the type: others count for nothing."""
    there_is = ranged(schema) or (schema.type in ("", "string") and formats.known(schema.format))
    return schema.format if there_is else ""


def json_type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case WholeFloat() | float():
            return "number"
        case int():
            return "integer"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


# -- scalars


def _check_string(schema: Structural, value: str, path: str, problems: Problems) -> None:
    """What is found first is all that is told."""
    raw = schema.raw
    limit, least, pattern = raw.get("maxLength"), raw.get("minLength"), raw.get("pattern")
    if limit is not None and len(value) > limit:
        problems.too_long(path, limit)
    elif least is not None and len(value) < least:
        problems.invalid(path, value, f"{in_body(path)} should be at least {least} chars long")
    elif pattern and not patterns.matches(pattern, value):
        problems.invalid(path, value, f"{in_body(path)} should match '{pattern}'")


def _check_format(schema: Structural, value: str, path: str, problems: Problems) -> int:
    format_ = _format(schema)
    if not format_:
        return 0
    if not formats.fits(format_, value):
        detail = f"{in_body(path)} must be of type {format_}: {orjson.dumps(value).decode()}"
        problems.append(field_type_invalid(path, value, detail))
        return 1
    return 2


def _check_enum(schema: Structural, value: Any, path: str, problems: Problems) -> None:
    allowed = schema.raw.get("enum")
    if not allowed or any(_same(value, item) for item in allowed):
        return
    shown = [item if isinstance(item, str) else orjson.dumps(item).decode() for item in allowed]
    problems.append(field_not_supported(path, value, shown))


def _same(one: Any, other: Any) -> bool:
    """As Go compares with what the value comes to as the other's type: a number with a whole one by its whole part."""
    if isinstance(one, float) and type(other) is int and abs(one) < 2**63:
        return int(one) == other
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


# -- collections


def _check_list(schema: Structural, value: list[Any], path: str, problems: Problems, *, old: Any) -> int:
    raw, made = schema.raw, 0
    if schema.items is not None:
        before = correlated(schema, value, old)
        for index, item in enumerate(value):
            made += check_value(schema.items, item, f"{path}[{index}]", problems, old=before[index])
    least = raw.get("minItems")
    if least is not None and len(value) < least:
        problems.invalid(path, len(value), f"{in_body(path)} should have at least {least} items")
    limit = raw.get("maxItems")
    if limit is not None and len(value) > limit:
        problems.too_many(path, len(value), limit)
    if raw.get("uniqueItems") and len({orjson.dumps(item) for item in value}) < len(value):
        problems.invalid(path, value, f"{in_body(path)} shouldn't contain duplicates")
    return made


def _check_object(schema: Structural, value: dict[str, Any], path: str, problems: Problems, *, old: Any) -> int:
    raw, made = schema.raw, 0
    least, limit = raw.get("minProperties"), raw.get("maxProperties")
    if least is not None and len(value) < least:
        problems.invalid(path, len(value), f"{in_body(path)} should have at least {least} properties")
    if limit is not None and len(value) > limit:
        problems.too_many(path, len(value), limit)
    if raw.get("additionalProperties") is False:
        for key in value:
            if key not in schema.properties:
                problems.invalid(path, key, f"{path}.{key} in body is a forbidden property")
    before = old if isinstance(old, dict) else {}
    for key, item in value.items():
        node = schema.child(key)
        if node is not None:
            known = MISSING if not path and key in ("apiVersion", "kind") else before.get(key, MISSING)
            at = _below(path, key) if key in schema.properties else f"{path}.{key}"
            made += check_value(node, item, at, problems, old=known)
    for name in schema.required:
        if name not in value:
            problems.required(_below(path, name))
    return made


def within(path: str, field: str) -> str:
    """Where a field is of a value that is at a path, and was checked by itself."""
    return path if field in ("", NOWHERE) else f"{path}.{field.removeprefix('.')}"


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


# -- junctors


def _nothing(problems: Problems, text: str) -> None:
    problems.append(field_invalid("<nil>", "", text))


def _quoted(path: str) -> str:
    return orjson.dumps(path).decode()


def _check_junctors(schema: Structural, value: Any, path: str, problems: Problems) -> int:
    made = 0
    if schema.any_of:
        tried = _tried(schema.any_of, value, path)
        valid = [each for each in tried if not each.problems]
        if not valid:
            _nothing(problems, f"{_quoted(path)} must validate at least one schema (anyOf)")
        made += (valid[0] if valid else _closest(tried)).added_to(problems)
    if schema.one_of:
        tried = _tried(schema.one_of, value, path)
        valid = [each for each in tried if not each.problems]
        if len(valid) != 1:
            how = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
            _nothing(problems, f"{_quoted(path)} must validate one and only one schema (oneOf). {how}")
        made += (valid[0] if valid else _closest(tried)).added_to(problems)
    if schema.all_of:
        tried = _tried(schema.all_of, value, path)
        made += sum(each.added_to(problems) for each in tried)
        valid = [each for each in tried if not each.problems]
        if len(valid) != len(tried):
            how = "" if valid else ". None validated"
            _nothing(problems, f"{_quoted(path)} must validate all the schemas (allOf){how}")
    if schema.not_ is not None and not _tried((schema.not_,), value, path)[0].problems:
        _nothing(problems, f"{_quoted(path)} must not validate the schema (not)")
    return made


class _Trial(NamedTuple):
    """What one of the schemas says, and how many checks it made."""

    problems: Problems
    made: int

    def added_to(self, problems: Problems) -> int:
        problems.extend(self.problems)
        return self.made


def _tried(schemas: tuple[Structural, ...], value: Any, path: str) -> list[_Trial]:
    found = []
    for schema in schemas:
        problems = Problems()
        found.append(_Trial(problems, check_value(schema, value, path, problems)))
    return found


def _closest(tried: list[_Trial]) -> _Trial:
    """Of the alternatives that failed the first of those that most was checked of."""
    return max(tried, key=lambda each: each.made)
