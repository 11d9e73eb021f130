"""When a claim is lost to the taints of its devices (pkg/controller/devicetainteviction, claimEvictionTime)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from engine.api.device_taints import NO_EXECUTE, tolerates
from engine.api.types import Object
from engine.controllers.pods import parse_time


@dataclass(frozen=True, slots=True)
class Eviction:
    """When Pods have to go, and the names of the DeviceTaintRules that are to blame; taints of slices have none."""

    when: datetime
    rules: frozenset[str] = frozenset()

    def joined(self, other: Eviction | None) -> Eviction:
        return self if other is None else Eviction(min(self.when, other.when), self.rules | other.rules)


def results_of(claim: Object) -> list[Object]:
    """The devices that are allocated to a claim."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return (allocation.get("devices") or {}).get("results") or []


def pool_of(device: Object) -> str:
    """The pool of an allocated device, as `pool_name` writes it."""
    return f"{device['driver']}/{device['pool']}"


def pool_name(slice: Object) -> str:
    return f"{slice['spec']['driver']}/{slice['spec']['pool']['name']}"


def newest(slices: Iterable[Object]) -> list[Object]:
    """The slices of a pool that count: what was published before its newest generation does not."""
    found = list(slices)
    generation = max((_generation(each) for each in found), default=0)
    return [each for each in found if _generation(each) == generation]


def _generation(slice: Object) -> int:
    return int(slice["spec"]["pool"].get("generation") or 0)


def selects(rule: Object, driver: str, pool: str, device: str) -> bool:
    """Whether a rule is for a device. One that selects nothing is for none."""
    selector = rule["spec"].get("deviceSelector")
    if selector is None:
        return False
    wanted = {"driver": driver, "pool": pool, "device": device}
    return all(selector.get(name) in (None, value) for name, value in wanted.items())


def selects_result(rule: Object, device: Object) -> bool:
    return selects(rule, device["driver"], device["pool"], device["device"])


def eviction_of(device: Object, slices: Iterable[Object], rules: Iterable[Object]) -> Eviction | None:
    """When a device is lost to its user: `slices` are those of its pool that count, `rules` those that evict."""
    found: Eviction | None = None
    for taint, rule in _taints(device, slices, rules):
        if (when := _until(taint, device.get("tolerations") or ())) is not None:
            found = Eviction(when, frozenset((rule,) if rule else ())).joined(found)
    return found


def _taints(device: Object, slices: Iterable[Object], rules: Iterable[Object]) -> Iterator[tuple[Object, str]]:
    """The taints that evict, each with the name of its rule."""
    published = (each for slice in slices for each in slice["spec"].get("devices") or ())
    if (spec := next((each for each in published if each["name"] == device["device"]), None)) is not None:
        yield from ((taint, "") for taint in spec.get("taints") or () if taint.get("effect") == NO_EXECUTE)
    for rule in rules:
        if selects_result(rule, device):
            yield rule["spec"]["taint"], str(rule["metadata"]["name"])


def _until(taint: Object, tolerations: Iterable[Object]) -> datetime | None:
    """None for a taint that is tolerated for ever. A toleration of all effects is none of this one."""
    used = [each for each in tolerations if each.get("effect") == NO_EXECUTE and tolerates(each, taint)]
    seconds = [each.get("tolerationSeconds") for each in used]
    if None in seconds:
        return None
    added = parse_time(taint["timeAdded"])
    return added + timedelta(seconds=min((max(0, each) for each in seconds if each is not None), default=0))
