"""Labels, annotations and label selectors (apimachinery pkg/apis/meta/v1/validation, pkg/api/validation)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.api.types import Object
from engine.api.validation.problems import Problems
from engine.api.validation.text import label_value, qualified_name

_ANNOTATIONS_LIMIT = 256 * 1024
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def label_map(values: Mapping[str, str] | None, path: str, problems: Problems) -> None:
    for key, value in (values or {}).items():
        problems.all_invalid(path, key, qualified_name(key))
        problems.all_invalid(path, value, label_value(value))


def label_key(key: str, path: str, problems: Problems) -> None:
    problems.all_invalid(path, key, qualified_name(key))


def annotation_map(values: Mapping[str, str] | None, path: str, problems: Problems) -> None:
    if not values:
        return
    for key in values:
        problems.all_invalid(path, key, qualified_name(key.lower()))
    annotations_size(values, path, problems)


def annotations_size(values: Mapping[str, str], path: str, problems: Problems) -> None:
    size = sum(len(key) + len(value) for key, value in values.items())
    if size > _ANNOTATIONS_LIMIT // 4 and _byte_size(values) > _ANNOTATIONS_LIMIT:
        problems.too_long(path, _ANNOTATIONS_LIMIT)


def _byte_size(values: Mapping[str, str]) -> int:
    return sum(len(key.encode()) + len(value.encode()) for key, value in values.items())


def label_selector(selector: Object | None, path: str, problems: Problems, *, any_values: bool = False) -> None:
    """With `any_values` those of its expressions need not be values of labels (AllowInvalidLabelValueInSelector)."""
    if not selector:
        return
    label_map(selector.get("matchLabels"), f"{path}.matchLabels", problems)
    for index, requirement in enumerate(selector.get("matchExpressions", ())):
        label_requirement(requirement, f"{path}.matchExpressions[{index}]", problems, any_values=any_values)


def has_invalid_value(selector: Object | None) -> bool:
    """Whether an older release let it through with a value that no label has (LabelSelectorHasInvalidLabelValue)."""
    requirements = (selector or {}).get("matchExpressions", ())
    return any(label_value(value) for requirement in requirements for value in requirement.get("values", ()))


def label_requirement(
    requirement: Object, path: str, problems: Problems, *, any_values: bool = False, any_operator: bool = False
) -> None:
    """One expression of a selector; with `any_operator` newer clients may know others (AllowUnknownOperator…)."""
    operator, values = requirement.get("operator", ""), requirement.get("values", ())
    if operator in ("In", "NotIn"):
        if not values:
            problems.required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            problems.forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif not any_operator:
        problems.invalid(f"{path}.operator", operator, "not a valid selector operator")
    label_key(requirement.get("key", ""), f"{path}.key", problems)
    if not any_values:
        label_values(values, f"{path}.values", problems)


def label_values(values: Iterable[str], path: str, problems: Problems) -> None:
    for index, value in enumerate(values):
        problems.all_invalid(f"{path}[{index}]", value, label_value(value))
