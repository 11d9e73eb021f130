"""Arithmetic on lists of resources (apiserver pkg/quota/v1 resources.go)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.quantity import Quantity

Amounts = dict[str, Quantity]


def added(one: Amounts, other: Amounts) -> Amounts:
    total = dict(one)
    for name, amount in other.items():
        total[name] = total[name] + amount if name in total else amount
    return total


def grown(now: Amounts, before: Amounts) -> Amounts:
    """By how much the amounts are larger (SubtractWithNonNegativeResult); what shrank is left out."""
    more = {name: amount - before[name] if name in before else amount for name, amount in now.items()}
    return {name: amount for name, amount in more.items() if amount.milli > 0}


def masked(amounts: Amounts, names: Iterable[str]) -> Amounts:
    return {name: amounts[name] for name in names if name in amounts}


def exceeded(amounts: Amounts, limits: Amounts) -> list[str]:
    """The names whose amount is above the limit, in order."""
    return sorted(name for name, amount in amounts.items() if name in limits and amount > limits[name])


def shown(amounts: Amounts) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in sorted(amounts))
