"""What a Job makes of Pods that fail or succeed: podFailurePolicy and successPolicy (pkg/apis/batch/validation)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.errors import OMITTED
from engine.api.golang.integer import parse_int
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems
from engine.api.validation.repeats import repeated

_MAX_RULES, _MAX_CODES, _MAX_CONDITIONS, _MAX_INDEXES = 20, 255, 20, 64 * 1024
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")


def failure_policy(spec: Object, path: str, problems: Problems) -> None:
    rules = spec["podFailurePolicy"].get("rules", ())
    if len(rules) > _MAX_RULES:
        problems.too_many(f"{path}.rules", len(rules), _MAX_RULES)
    pod_spec = spec.get("template", {}).get("spec", {})
    names = [each.get("name") for field in ("containers", "initContainers") for each in pod_spec.get(field, ())]
    for index, rule in enumerate(rules):
        _failure_rule(rule, spec, f"{path}.rules[{index}]", problems, names=names)


def _failure_rule(rule: Object, spec: Object, path: str, problems: Problems, *, names: Sequence[str]) -> None:
    action, codes, conditions = rule.get("action", ""), rule.get("onExitCodes"), rule.get("onPodConditions", ())
    if action != "FailIndex":
        _word(action, f"{path}.action", problems, _ACTIONS)
    elif "backoffLimitPerIndex" not in spec:
        problems.invalid(f"{path}.action", action, "requires the backoffLimitPerIndex to be set")
    if codes is not None:
        _exit_codes(codes, f"{path}.onExitCodes", problems, names=names)
    if len(conditions) > _MAX_CONDITIONS:
        problems.too_many(f"{path}.onPodConditions", len(conditions), _MAX_CONDITIONS)
    for index, condition in enumerate(conditions):
        at, kind = f"{path}.onPodConditions[{index}]", condition.get("type", "")
        problems.all_invalid(f"{at}.type", kind, text.qualified_name(kind))
        _word(condition.get("status", ""), f"{at}.status", problems, _STATUSES)
    if codes is not None and conditions:
        problems.invalid(path, OMITTED, "specifying both OnExitCodes and OnPodConditions is not supported")
    if codes is None and not conditions:
        problems.invalid(path, OMITTED, "specifying one of OnExitCodes and OnPodConditions is required")


def _word(value: str, path: str, problems: Problems, words: tuple[str, ...]) -> None:
    if not value:
        shown = " ".join(f'"{word}"' for word in words)
        problems.required(path, f"valid values: [{shown}]")
    elif value not in words:
        problems.not_supported(path, value, words)


def _exit_codes(codes: Object, path: str, problems: Problems, *, names: Sequence[str]) -> None:
    operator, values = codes.get("operator", ""), codes.get("values", [])
    _word(operator, f"{path}.operator", problems, _OPERATORS)
    if "containerName" in codes and codes["containerName"] not in names:
        detail = "must be one of the container or initContainer names in the pod template"
        problems.invalid(f"{path}.containerName", codes["containerName"], detail)
    if not values:
        problems.invalid(f"{path}.values", values, "at least one value is required")
    elif len(values) > _MAX_CODES:
        problems.too_many(f"{path}.values", len(values), _MAX_CODES)
    twins = repeated(values)
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            problems.invalid(f"{path}.values[{index}]", value, "must not be 0 for the In operator")
        if index in twins:
            problems.duplicate(f"{path}.values[{index}]", value)
    if values != sorted(values):
        problems.invalid(f"{path}.values", values, "must be ordered")


def success_policy(spec: Object, path: str, problems: Problems) -> None:
    """Of an indexed Job."""
    rules = spec["successPolicy"].get("rules", ())
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        problems.required(f"{path}.rules", detail)
    if len(rules) > _MAX_RULES:
        problems.too_many(f"{path}.rules", len(rules), _MAX_RULES)
    for index, rule in enumerate(rules):
        _success_rule(rule, spec.get("completions") or 0, f"{path}.rules[{index}]", problems)


def _success_rule(rule: Object, completions: int, path: str, problems: Problems) -> None:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        problems.required(path, "at least one of succeededCount or succeededIndexes must be specified")
    total = 0
    if indexes is not None:
        if len(indexes) > _MAX_INDEXES:
            problems.too_long(f"{path}.succeededIndexes", _MAX_INDEXES)
        total, wrong = count_indexes(indexes, completions)
        if wrong:
            problems.invalid(f"{path}.succeededIndexes", indexes, f"error parsing succeededIndexes: {wrong}")
    if count is not None:
        at = f"{path}.succeededCount"
        problems.not_negative(at, count)
        if count > completions:
            detail = f"must be less than or equal to {completions} (the number of specified completions)"
            problems.invalid(at, count, detail)
        if indexes is not None and count > total:
            detail = (
                f"must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
            )
            problems.invalid(at, count, detail)


def count_indexes(indexes: str, completions: int) -> tuple[int, str]:
    """How many `0,2-4` are, and what is wrong with them if anything (validateIndexesFormat)."""
    total, last = 0, -1
    for fragment in indexes.split(",") if indexes else ():
        first, end, wrong = _interval(fragment, completions)
        if wrong:
            return 0, wrong
        if last >= first:
            return 0, f"non-increasing order, previous: {last}, current: {first}"
        total, last = total + end - first + 1, end
    return total, ""


def _interval(fragment: str, completions: int) -> tuple[int, int, str]:
    """The ends of `2-4`, and what is wrong with it if anything (parseIndexInterval)."""
    parts = fragment.split("-")
    if len(parts) > 2:
        what = "an index interval can have at most two parts separated by '-'"
        return 0, 0, f'the fragment "{fragment}" violates the requirement that {what}'
    numbers: list[int] = []
    for part in parts:
        try:
            number = parse_int(part)
        except ValueError:
            return 0, 0, f'cannot convert string to integer for index: "{part}"'
        if number >= completions:
            return 0, 0, f'too large index: "{part}"'
        numbers.append(number)
    if len(numbers) == 2 and numbers[0] >= numbers[1]:
        return 0, 0, f"non-increasing order, previous: {numbers[0]}, current: {numbers[1]}"
    return numbers[0], numbers[-1], ""


def overlap(some: str, others: str, completions: int) -> int | None:
    """The first index that two lists share; what cannot be read of them is told of elsewhere."""
    left, right = _intervals(some, completions), _intervals(others, completions)
    while left and right:
        (start, end), (other, other_end) = left[0], right[0]
        if start <= other_end and other <= end:
            return max(start, other)
        (left if start <= other else right).pop(0)
    return None


def _intervals(indexes: str, completions: int) -> list[tuple[int, int]]:
    read = [_interval(fragment, completions) for fragment in indexes.split(",")] if indexes else []
    return [(first, last) for first, last, wrong in read if not wrong]
