"""Arithmetic on lists of resources (apiserver pkg/quota/v1 resources.go)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.api.quantity import Quantity

Amounts = dict[str, Quantity]


def parsed(amounts: Mapping[str, Any] | None) -> Amounts:
    return {name: Quantity.parse(amount) for name, amount in (amounts or {}).items()}


def added(one: Amounts, other: Amounts) -> Amounts:
    total = dict(one)
    for name, amount in other.items():
        total[name] = total[name] + amount if name in total else amount
    return total


def subtracted(one: Amounts, other: Amounts) -> Amounts:
    rest = dict(one)
    for name, amount in other.items():
        rest[name] = rest[name] - amount if name in rest else -amount
    return rest


def masked(amounts: Amounts, names: Iterable[str]) -> Amounts:
    return {name: amounts[name] for name in names if name in amounts}


def without_zeros(amounts: Amounts) -> Amounts:
    return {name: amount for name, amount in amounts.items() if amount}


def exceeded(amounts: Amounts, limits: Amounts) -> list[str]:
    """The names whose amount is above the limit, in order."""
    return sorted(name for name, amount in amounts.items() if name in limits and amount > limits[name])


def shown(amounts: Amounts) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in sorted(amounts))
