"""CEL expressions over devices: `device.driver`, `device.attributes[DOMAIN].NAME`, `device.capacity[DOMAIN].NAME`.

Source: upstream's dynamic-resource-allocation/cel/compile.go. A name without a domain is in the driver's; a domain
that a device has nothing of is an empty map.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings

from engine.api.crd.cel.library import extensions
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.scheduler.devices.pools import Device

KEPT_VERDICTS = 65_536
_WRAPPED = re.compile(r"^[A-Z_]+: |\s*\[[A-Z_]+\]$")
_MISSING_KEY = re.compile(r'Key not found in map : "?([^"]*)"?')
_DOMAIN = re.compile(r"""\.(?:attributes|capacity)\s*\[\s*(?:"([^"]*)"|'([^']*)')\s*\]""")


class SelectorError(Exception):
    """An expression that does not compile or that fails; the message says which of the two."""


@lru_cache(maxsize=1)
def _environment() -> Any:
    return cel.NewEnv(
        variables={"device": cel.Type.Map(cel.Type.STRING, cel.Type.DYN)},
        extensions=[*extensions(), ext_bindings.ExtBindings()],
    )


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> Any:
    try:
        program = _environment().compile(expression)
    except RuntimeError as error:
        text = _WRAPPED.sub("", str(error)).strip()
        raise SelectorError(f"CEL compile error: compilation failed: {text}") from None
    found = program.return_type().name().lower()
    if found not in ("bool", "dyn"):
        raise SelectorError(f"CEL compile error: must evaluate to bool or the unknown type, not {found}")
    return program


def _value(attribute: Object) -> Any:
    for name in ("int", "bool", "string"):
        if name in attribute:
            return attribute[name]
    if "version" in attribute:
        return {"semver": attribute["version"]}
    raise SelectorError("CEL runtime error: unsupported attribute value")


def _by_domain(named: dict[str, Any], driver: str, domains: list[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {domain: {} for domain in domains}
    for name, value in named.items():
        domain, slash, rest = name.partition("/")
        if slash:
            found.setdefault(domain, {})[rest] = value
        else:
            found.setdefault(driver, {})[name] = value
    return found


def _variables(expression: str, device: Device) -> Object:
    domains = [one or other for one, other in _DOMAIN.findall(expression)]
    attributes = {name: _value(value) for name, value in (device.spec.get("attributes") or {}).items()}
    capacity = {
        name: {"quantity": str(Quantity.parse(str(value["value"])))}
        for name, value in (device.spec.get("capacity") or {}).items()
    }
    driver = device.id.driver
    return {
        "driver": driver,
        "attributes": _by_domain(attributes, driver, domains),
        "capacity": _by_domain(capacity, driver, domains),
        "allowMultipleAllocations": bool(device.spec.get("allowMultipleAllocations")),
    }


def _evaluate(expression: str, device: Device) -> bool:
    result = _compiled(expression).eval(data={"device": _variables(expression, device)})
    kind = result.type().name()
    if kind == "ERROR":
        text = _MISSING_KEY.sub(r"no such key: \1", _WRAPPED.sub("", str(result.value())))
        raise SelectorError(f"CEL runtime error: {text}")
    value = result.value()
    if not isinstance(value, bool):
        raise SelectorError(
            f"CEL runtime error: CEL result of type {kind.lower()} could not be converted to bool: "
            f"type conversion error from '{kind.lower()}' to 'bool'"
        )
    return value


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
