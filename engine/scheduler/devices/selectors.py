"""CEL expressions over devices: `device.driver`, `device.attributes[DOMAIN].NAME`, `device.capacity[DOMAIN].NAME`.

Source: upstream's dynamic-resource-allocation/cel/compile.go. A name without a domain is in the driver's; a domain
that a device has nothing of is an empty map.
"""

from __future__ import annotations

from typing import Any

from engine.api.types import Object
from engine.scheduler.devices.pools import Device

KEPT_VERDICTS = 65_536


class SelectorError(Exception):
    """An expression that does not compile or that fails; the message says which of the two."""


def _value(attribute: Object) -> Any:
    """Lists are read whether or not their gate (DRAListTypeAttributes) lets new ones in."""
    for name in ("int", "bool", "string", "ints", "bools", "strings"):
        if name in attribute:
            return attribute[name]
    if "version" in attribute:
        return _version(attribute["version"])
    if "versions" in attribute:
        return [_version(text) for text in attribute["versions"]]
    raise SelectorError("CEL runtime error: unsupported attribute value")


def _version(text: str) -> Any:
    from engine.api.cel.library.versions import version
    from engine.api.cel.values import EvaluationError

    try:
        return version(text)
    except EvaluationError as error:
        raise SelectorError(f"CEL runtime error: parse semantic version: {error}") from None


def _by_domain(named: dict[str, Any], driver: str) -> dict[str, Any]:
    from engine.api.cel.devices import Domains

    found = Domains()
    for name, value in named.items():
        domain, slash, rest = name.partition("/")
        found.setdefault(domain if slash else driver, {})[rest if slash else name] = value
    return found


def _variables(device: Device) -> Object:
    from engine.api.cel.library.quantities import Amount

    attributes = {name: _value(value) for name, value in (device.spec.get("attributes") or {}).items()}
    capacity = {name: Amount.parse(str(value["value"])) for name, value in (device.spec.get("capacity") or {}).items()}
    driver = device.id.driver
    return {
        "driver": driver,
        "attributes": _by_domain(attributes, driver),
        "capacity": _by_domain(capacity, driver),
        "allowMultipleAllocations": bool(device.spec.get("allowMultipleAllocations")),
    }


def _evaluate(expression: str, device: Device) -> bool:
    """What CEL is written with is loaded with the first selector."""
    from engine.api.cel import devices
    from engine.api.cel.syntax import CompileError
    from engine.api.cel.values import type_of

    try:
        outcome = devices.run(devices.compiled(expression), _variables(device))
    except CompileError as error:
        raise SelectorError(f"CEL compile error: {error}") from None
    if outcome.error:
        raise SelectorError(f"CEL runtime error: {outcome.error}")
    if not isinstance(outcome.value, bool):
        kind = type_of(outcome.value).type_name
        raise SelectorError(
            f"CEL runtime error: CEL result of type {kind} could not be converted to bool: "
            f"type conversion error from '{kind}' to 'bool'"
        )
    return outcome.value


class Verdicts:
    """What expressions have said of devices, kept over many attempts: a device's version says the same for ever."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[str, str, str]], bool] = {}

    def matches(self, expression: str, device: Device) -> bool:
        """Raises SelectorError."""
        key = (expression, device.key)
        known = self._known.get(key)
        if known is None:
            known = _evaluate(expression, device)
            if len(self._known) >= KEPT_VERDICTS:
                self._known.clear()
            self._known[key] = known
        return known
