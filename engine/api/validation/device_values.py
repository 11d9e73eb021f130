"""What claims to devices, their results, slices and taint rules are made of (pkg/apis/resource/validation).

A list beyond its limit is told once, and nothing of what is in it: so upstream keeps a flood of errors away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import orjson

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.go_values import internal
from engine.api.validation.labels import label_key
from engine.api.validation.problems import Problems
from engine.api.validation.repeats import repeated
from engine.api.validation.volume_sources import csi_driver_name

_POOL_LENGTH = 253
_IDENTIFIER_LENGTH = 32
_MOST_CONDITIONS = 4
_EFFECTS = ("NoExecute", "NoSchedule", "None")
_OPERATORS = ("Equal", "Exists")
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_UUID_TEXT = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal "
    "characters"
)
_QUALIFIED = "a fully qualified name must be a domain and a name separated by a slash"
_OVERLAP = "bindingFailureConditions must not overlap with bindingConditions"
_OMITTED = "<value omitted>"

Check = Callable[[Any, str, Problems], None]


def items(found: Sequence[Any] | None, path: str, most: int | None, check: Check, problems: Problems) -> bool:
    """validateSlice: whether the list is short enough to look at."""
    found = found or ()
    if most is not None and len(found) > most:
        problems.too_many(path, len(found), most)
        return False
    for index, item in enumerate(found):
        check(item, f"{path}[{index}]", problems)
    return True


def unique_items(
    found: Sequence[Any] | None,
    path: str,
    most: int | None,
    check: Check,
    problems: Problems,
    *,
    key: Callable[[Any], Hashable] = lambda item: item,
) -> None:
    """validateSet."""
    if not items(found, path, most, check, problems):
        return
    seen: set[Hashable] = set()
    for index, item in enumerate(found or ()):
        name = key(item)
        if name in seen:
            problems.duplicate(f"{path}[{index}]", name)
        seen.add(name)


def named(item: Object) -> str:
    return str(item.get("name", ""))


def dns_label(name: str, path: str, problems: Problems) -> None:
    problems.all_invalid(path, name, text.dns_label(name))


def pool_name(name: str, path: str, problems: Problems) -> None:
    if not name:
        problems.required(path)
        return
    if len(name) > _POOL_LENGTH:
        problems.too_long(path, _POOL_LENGTH)
    for part in name.split("/"):
        problems.all_invalid(path, part, text.dns_subdomain(part))


def share_id(uid: str, path: str, problems: Problems) -> None:
    if re.fullmatch(_UUID, uid):
        return
    detail = _uuid_error(uid)
    problems.invalid(path, uid, f"error validating uid: {detail}" if detail else _UUID_TEXT)


def _uuid_error(uid: str) -> str:
    """What github.com/google/uuid says, which also knows URNs, braces and plain digits."""
    digits = uid
    if len(uid) == 45:
        if uid[:9].lower() != "urn:uuid:":
            return f'invalid urn prefix: "{uid[:9]}"'
        digits = uid[9:]
    elif len(uid) == 38:
        if uid[0] != "{" or uid[-1] != "}":
            return "invalid bracketed UUID format"
        digits = uid[1:-1]
    elif len(uid) not in (32, 36):
        return f"invalid UUID length: {len(uid)}"
    pattern = _UUID if len(digits) == 36 else "[0-9a-f]{32}"
    return "" if re.fullmatch(pattern, digits.lower()) else "invalid UUID format"


def qualified_name(name: str, path: str, problems: Problems) -> None:
    parts = name.split("/")
    if len(parts) > 2:
        problems.invalid(path, name, "must not contain more than one slash")
        return
    if len(parts) == 2:
        if not parts[0]:
            problems.invalid(path, "", "the domain must not be empty")
        else:
            csi_driver_name(parts[0], path, problems)
        if not parts[1]:
            problems.invalid(path, "", "the name must not be empty")
            return
    _identifier(parts[-1], path, problems)


def _identifier(name: str, path: str, problems: Problems) -> None:
    if len(name) > _IDENTIFIER_LENGTH:
        problems.too_long(path, _IDENTIFIER_LENGTH)
    problems.all_invalid(path, name, text.c_identifier(name))


def fully_qualified_name(name: str, path: str, problems: Problems) -> None:
    """The name of an attribute, with its domain."""
    qualified_name(name, path, problems)
    if "/" not in name:
        problems.invalid(path, name, _QUALIFIED)


def json_object(found: Any, path: str, most: int, problems: Problems, *, stored: bool = False) -> None:
    """What is a driver's own (validateRawExtension). It stays allowed, however long, once it is stored."""
    if found is None:
        problems.required(path)
    elif not stored and len(orjson.dumps(found)) > most:
        problems.too_long(path, most)
    elif not isinstance(found, dict):
        problems.invalid(path, _OMITTED, "must be a valid JSON object")


def taint(found: Object, before: Object | None, path: str, problems: Problems) -> None:
    """`before` is the taint that it replaces: what it does stays allowed when servers no longer know it."""
    label_key(found.get("key", ""), f"{path}.key", problems)
    if found.get("value"):
        problems.all_invalid(f"{path}.value", found["value"], text.label_value(found["value"]))
    effect = found.get("effect", "")
    if before is None or before.get("effect", "") != effect:
        problems.one_of(f"{path}.effect", effect, _EFFECTS)


def toleration(found: Object, path: str, problems: Problems) -> None:
    if found.get("key"):
        label_key(found["key"], f"{path}.key", problems)
    operator, value = found.get("operator", ""), found.get("value", "")
    if operator == "Exists":
        if value:
            problems.invalid(f"{path}.value", value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        problems.all_invalid(f"{path}.value", value, text.label_value(value))
    else:
        problems.one_of(f"{path}.operator", operator, _OPERATORS)
    if found.get("effect"):
        problems.unless_in(f"{path}.effect", found["effect"], _EFFECTS)


def binding_conditions(holder: Object, path: str, problems: Problems) -> None:
    """What a device must be before a Pod is bound, and what tells that it will not be: both, or neither."""
    ready, failed = holder.get("bindingConditions") or [], holder.get("bindingFailureConditions") or []
    at_ready, at_failed = f"{path}.bindingConditions", f"{path}.bindingFailureConditions"
    items(ready, at_ready, _MOST_CONDITIONS, label_key, problems)
    items(failed, at_failed, _MOST_CONDITIONS, label_key, problems)
    for index in sorted(repeated(ready)):
        problems.duplicate(f"{at_ready}[{index}]", ready[index])
    known, twins = set(ready), repeated(failed)
    for index, condition in enumerate(failed):
        if index in twins:
            problems.duplicate(f"{at_failed}[{index}]", condition)
        if condition in known:
            problems.invalid(f"{at_failed}[{index}]", condition, _OVERLAP)
    if failed and not ready:
        detail = "bindingConditions are required to use bindingFailureConditions"
        problems.invalid(at_ready, holder.get("bindingConditions"), detail)
    if ready and not failed:
        detail = "bindingFailureConditions are required to use bindingConditions"
        problems.invalid(at_failed, holder.get("bindingFailureConditions"), detail)


def skipped_operations(found: Sequence[str] | None, path: str, problems: Problems) -> None:
    skipped = found or ()
    if "NodePrepareResources" in skipped and "NodeUnprepareResources" not in skipped and "*" not in skipped:
        detail = "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped"
        problems.invalid(path, skipped, detail)


def shown_terms(selector: Object) -> Any:
    """The terms of a node selector as an error shows them."""
    terms = selector.get("nodeSelectorTerms")
    return None if terms is None else [internal("NodeSelectorTerm", term) for term in terms]


def key_path(path: str, key: str, most: int) -> str:
    """The path of a map's value, whose key is shortened in the middle if it is too long to be one."""
    if len(key) > most:
        remaining = most - len("...")
        key = f"{key[: (remaining + 1) // 2]}...{key[len(key) - remaining // 2 :]}"
    return f"{path}[{key}]"


def values(
    found: Mapping[str, Any] | None,
    path: str,
    most: int | None,
    keys: tuple[Check, int],
    check: Check,
    problems: Problems,
) -> None:
    """validateMap: a key, which has a limit of letters, is told at the map, and a value at its own path."""
    entries = found or {}
    check_key, key_length = keys
    if most is not None and len(entries) > most:
        problems.too_many(path, len(entries), most)
        return
    for key, value in entries.items():
        check_key(key, path, problems)
        check(value, key_path(path, key, key_length), problems)
