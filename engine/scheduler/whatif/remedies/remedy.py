"""What would have to change for a Pod to fit a node: the answer of one filter, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from engine.api.quantity import Format, Quantity
from engine.api.types import Object
from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.plugin import Plugin
from engine.scheduler.framework.status import Status
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.resource import CPU, PODS, is_extended
from engine.scheduler.selecting import PodSelector


@dataclass(frozen=True, slots=True)
class Remedy:
    """`action` says it, `change` is the same as data. `cost` ranks: an edit of the Pod is cheap, other Pods' leaving is
    dear, another machine the dearest; what is freed adds the share of the node that it is."""

    plugin: str
    action: str
    change: Object
    cost: float

    @property
    def for_pod(self) -> tuple[str, str] | None:
        """Which further Pod is asked for, and how near; where exactly is not what matters."""
        wanted = self.change.get("addPod")
        return (wanted, self.change["topologyKey"]) if wanted else None

    def to_json(self) -> Object:
        return {"plugin": self.plugin, "action": self.action, "change": self.change}


EDIT_POD, EDIT_NODE, MOVE_PODS, ANOTHER = 1.0, 2.0, 3.0, 10.0


@dataclass(frozen=True, slots=True)
class Question:
    """Why does this plugin reject this node for this Pod?"""

    plugin: Plugin
    pod: PodInfo
    node: NodeInfo
    status: Status
    state: CycleState
    snapshot: Snapshot

    def remedy(self, action: str, change: Object, cost: float) -> Remedy:
        return Remedy(self.plugin.name, action, change, cost)


@dataclass(frozen=True, slots=True)
class NodeRemedies:
    """All that stands between a Pod and one node."""

    node: str
    remedies: list[Remedy] = field(default_factory=list)

    @property
    def cost(self) -> float:
        return sum(remedy.cost for remedy in self.remedies)

    def take_up(self, further: list[Remedy]) -> list[Remedy]:
        """Add what was not told yet, and return it; a skew takes the place of the smaller one that was told."""
        told = {remedy.action for remedy in self.remedies} | {r.for_pod for r in self.remedies if r.for_pod}
        new = [remedy for remedy in further if remedy.action not in told and remedy.for_pod not in told]
        skews = {remedy.change["topologyKey"] for remedy in new if "maxSkew" in remedy.change}
        self.remedies[:] = [
            r for r in self.remedies if "maxSkew" not in r.change or r.change["topologyKey"] not in skews
        ] + new
        return new

    def to_json(self) -> Object:
        return {"node": self.node, "remedies": [remedy.to_json() for remedy in self.remedies]}


def amount_text(resource: str, amount: int) -> str:
    """An amount as a quantity that people write: bytes in whole Mi, rounded up."""
    if resource == CPU:
        return str(Quantity.of_milli(amount))
    if resource == PODS or is_extended(resource):
        return str(amount)
    mebi = 2**20
    whole = amount if amount < mebi or not amount % 1024 else -(-amount // mebi) * mebi
    return str(Quantity.of(whole, Format.BINARY_SI))


def labels_text(labels: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in labels.items())


def _expression_text(expression: Mapping[str, Any]) -> str:
    key, operator = expression.get("key", ""), expression.get("operator", "")
    values = ",".join(str(value) for value in expression.get("values") or ())
    match operator:
        case "In":
            return f"{key} in ({values})" if "," in values else f"{key}={values}"
        case "NotIn":
            return f"{key} notin ({values})"
        case "Exists":
            return str(key)
        case "DoesNotExist":
            return f"!{key}"
        case _:
            return f"{key} {'>' if operator == 'Gt' else '<'} {values}"


def expressions_text(expressions: list[Object]) -> str:
    return ",".join(_expression_text(expression) for expression in expressions)


def selector_text(selector: PodSelector) -> str:
    """A label selector as `kubectl get -l` takes it."""
    obj = orjson.loads(selector.key)
    if obj is None:
        return "nothing"
    parts = [labels_text(obj.get("matchLabels") or {}), expressions_text(obj.get("matchExpressions") or [])]
    return ",".join(part for part in parts if part) or "all Pods"


def names_text(names: list[str], *, most: int = 3) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
