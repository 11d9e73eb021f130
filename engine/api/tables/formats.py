"""Texts that the cells of several kinds share (upstream pkg/printers/internalversion)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engine.api.quantity import Quantity, QuantityError
from engine.api.types import Object

_ACCESS_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def containers(template: Mapping[str, Any]) -> list[Object]:
    """The containers of a Pod template."""
    return list((template.get("spec") or {}).get("containers") or ())


def container_names(template: Mapping[str, Any]) -> str:
    return ",".join(container.get("name", "") for container in containers(template))


def container_images(template: Mapping[str, Any]) -> str:
    return ",".join(container.get("image", "") for container in containers(template))


def with_more(items: Sequence[str], limit: int, separator: str = ",", *, count: int | None = None) -> str:
    """The first `limit` items, and how many more there are."""
    shown = separator.join(items[:limit])
    count = len(items) if count is None else count
    return f"{shown} + {count - limit} more..." if count > limit else shown


def go_bool(value: bool | None) -> str:
    return "<unset>" if value is None else str(bool(value))


def quantity(value: Any) -> str:
    """A quantity in canonical form; one that is not set is 0, as Go's zero value prints."""
    if value is None:
        return "0"
    try:
        return str(Quantity.parse(value))
    except QuantityError:
        return str(value)


def access_modes(modes: Iterable[str]) -> str:
    """Each mode once, in the order of the known modes."""
    given = set(modes)
    return ",".join(short for mode, short in _ACCESS_MODES.items() if mode in given)


def load_balancer(status: Mapping[str, Any]) -> str:
    """The ingress points of a load balancer, sorted, each once."""
    points = (status.get("loadBalancer") or {}).get("ingress") or ()
    found = {point.get("ip") or point.get("hostname") or "" for point in points}
    return ",".join(sorted(found - {""}))


def condition(status: Mapping[str, Any], kind: str) -> Object | None:
    """The condition of a type."""
    return next((item for item in status.get("conditions") or () if item.get("type") == kind), None)


def condition_true(status: Mapping[str, Any], kind: str) -> bool:
    found = condition(status, kind)
    return found is not None and found.get("status") == "True"


def host_port(address: str, port: int | str) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
