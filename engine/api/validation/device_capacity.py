"""How much of a shared device's capacity one request may take (pkg/apis/resource/validation, validateRequestPolicy)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.validation.device_values import unique_items
from engine.api.validation.problems import NOT_NEGATIVE, Problems

_MOST_VALUES = 10
_MOST = Quantity.of(2**63 - 1)
_ZERO = Quantity()
_ONE_POLICY = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'


def shared(capacity: Object, path: str, problems: Problems) -> None:
    """Of a device that may be allocated several times."""
    policy, at = capacity.get("requestPolicy"), f"{path}.requestPolicy"
    if policy is None:
        return
    options, span = policy.get("validValues"), policy.get("validRange")
    if options and span is not None:
        problems.forbidden(at, _ONE_POLICY)
    elif options or span is not None:
        field = "validValues" if options else "validRange"
        if policy.get("default") is None:
            problems.required(f"{at}.default", f"required when {field} is defined")
            return
        default, most = Quantity.parse(policy["default"]), Quantity.parse(capacity.get("value", 0))
        if options:
            _options(default, most, [Quantity.parse(option) for option in options], f"{at}.validValues", problems)
        else:
            _range(default, most, span, f"{at}.validRange", problems)


def exclusive(capacity: Object, path: str, problems: Problems) -> None:
    if capacity.get("requestPolicy") is not None:
        problems.forbidden(f"{path}.requestPolicy", "allowMultipleAllocations must be true")


def _options(default: Quantity, most: Quantity, options: Sequence[Quantity], path: str, problems: Problems) -> None:
    for index in range(1, len(options)):
        if options[index - 1] > options[index]:
            problems.invalid(f"{path}[{index}]", str(options[index]), "values must be sorted in ascending order")

    def option(value: Quantity, path: str, problems: Problems) -> None:
        if value > most:
            problems.invalid(path, str(value), f"option is larger than capacity value: {most}")

    # Without the gate DRAFractionalCapacityRange two options are one if they round up to the same number.
    unique_items(options, path, _MOST_VALUES, option, problems, key=lambda value: str(value.value))
    if default not in options or len(options) > _MOST_VALUES:
        problems.invalid(path, str(default), "default value is not valid according to the requestPolicy")


def _range(default: Quantity, most: Quantity, span: Object, path: str, problems: Problems) -> None:
    bounds = {name: Quantity.parse(span[name]) for name in ("min", "max", "step") if span.get(name) is not None}
    least = bounds.get("min")
    if least is None:
        problems.required(f"{path}.min", "required when validRange is defined")
        return
    if least > most:
        problems.invalid(f"{path}.min", str(least), f"min is larger than capacity value: {most}")
    if default < least:
        problems.invalid(f"{path}.default", str(default), f"default is less than min: {least}")
    if "max" in bounds:
        _most_of(default, least, bounds["max"], most, path, problems)
    if "step" in bounds:
        _step({"default": default, **bounds}, most, path, problems)


def _most_of(default: Quantity, least: Quantity, top: Quantity, most: Quantity, path: str, problems: Problems) -> None:
    if least > top:
        problems.invalid(f"{path}.max", str(least), f"min is larger than max: {top}")
    if top > most:
        problems.invalid(f"{path}.max", str(top), f"max is larger than capacity value: {most}")
    if default > top:
        problems.invalid(f"{path}.default", str(default), f"default is more than max: {top}")


def _step(bounds: dict[str, Quantity], most: Quantity, path: str, problems: Problems) -> None:
    step, least = bounds["step"], bounds["min"]
    if step <= _ZERO:
        problems.invalid(f"{path}.step", str(step), "must be greater than zero")
        return
    if least + step > most:
        detail = f"one step {least + step} is larger than capacity value: {most}"
        problems.invalid(f"{path}.step", str(step), detail)
    before = len(problems)
    for name, bound in bounds.items():
        if bound < _ZERO:
            problems.invalid(f"{path}.{name}", str(bound), NOT_NEGATIVE)
        elif bound > _MOST:
            problems.invalid(f"{path}.{name}", str(bound), "must not be larger than 9223372036854775807")
    if len(problems) > before:
        return
    for bound in (bounds[name] for name in ("default", "max") if name in bounds):
        if (bound.value - least.value) % step.value:
            detail = f"value is not a multiple of a given step ({step}) from ({least})"
            problems.invalid(f"{path}.step", str(bound), detail)
