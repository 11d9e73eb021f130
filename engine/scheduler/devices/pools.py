"""The pools of devices that a node can reach, out of all ResourceSlices (structured GatherPools)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.api.types import Object
from engine.scheduler.selecting import node_selector_matches


class DeviceId(NamedTuple):
    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


@dataclass(frozen=True, slots=True, eq=False)
class Device:
    """One device as a slice publishes it; `key` tells this version of it from all others."""

    id: DeviceId
    spec: Object
    slice: Object
    key: tuple[str, str, str]


@dataclass(slots=True)
class Pool:
    """`devices` are those that the node can reach, `published` all of the pool, `counters` what they share by set.
    Nothing is taken from a pool that is incomplete or invalid."""

    driver: str
    name: str
    incomplete: bool
    invalid: bool
    devices: list[Device] = field(default_factory=list)
    published: list[Device] = field(default_factory=list)
    counters: dict[str, Object] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"


def reaches(place: Object, node: Object) -> bool:
    """Whether what a slice or a device says of nodes takes this one."""
    if name := place.get("nodeName"):
        return bool(name == node["metadata"]["name"])
    if place.get("allNodes"):
        return True
    selector = place.get("nodeSelector")
    return selector is not None and node_selector_matches(selector, node)


class Slices:
    """All slices, by pool and in the order of their names, found by node."""

    def __init__(self, slices: Iterable[Object], rules: Iterable[Object] = ()) -> None:
        """`rules` are DeviceTaintRules: administrators taint devices that drivers publish without a taint."""
        self._pools: dict[tuple[str, str], list[Object]] = {}
        rules = sorted(rules, key=lambda r: str(r["metadata"]["name"]))
        for each in sorted(slices, key=lambda s: str(s["metadata"]["name"])):
            each = _with_taints(each, rules)
            pool = each["spec"]["pool"]
            self._pools.setdefault((each["spec"]["driver"], pool["name"]), []).append(each)
        self._elsewhere: dict[str, list[tuple[str, str]]] = {}  # pools that one node alone can reach
        self._anywhere: list[tuple[str, str]] = []
        for key, found in self._pools.items():
            names = {each["spec"].get("nodeName") for each in found}
            if len(names) == 1 and (name := names.pop()):
                self._elsewhere.setdefault(name, []).append(key)
            else:
                self._anywhere.append(key)

    def of(self, node: Object) -> list[Pool]:
        """The pools of which the node can reach something. Those with devices that must be made ready come last."""
        keys = [*self._anywhere, *self._elsewhere.get(node["metadata"]["name"], ())]
        pools = [pool for key in sorted(keys) if (pool := _pool(self._pools[key], node)) is not None]
        return sorted(pools, key=_has_conditions)


def _with_taints(each: Object, rules: list[Object]) -> Object:
    """The slice with the taints that rules give its devices (resourceslice/tracker, KEP 5055)."""
    spec = each["spec"]
    if not any(_is_meant(spec, None, rule) for rule in rules):
        return each
    devices = []
    for device in spec.get("devices") or ():
        added = [rule["spec"]["taint"] for rule in rules if _is_meant(spec, device["name"], rule)]
        devices.append({**device, "taints": [*(device.get("taints") or ()), *added]} if added else device)
    return {**each, "spec": {**spec, "devices": devices}}


def _is_meant(spec: Object, device: str | None, rule: Object) -> bool:
    """Whether a rule selects a device of a slice, or with None may select one.

    The API's documentation says that a rule without a selector selects nothing. Upstream's scheduler has it select all,
    and so do the tests of its tracker.
    """
    selector = rule["spec"].get("deviceSelector") or {}
    found = {"driver": spec["driver"], "pool": spec["pool"]["name"], "device": device}
    return all(selector.get(name) in (None, value) for name, value in found.items() if value is not None)


def _generation(each: Object) -> int:
    return int(each["spec"]["pool"].get("generation") or 0)


def _pool(slices: list[Object], node: Object) -> Pool | None:
    near = [each for each in slices if _near(each["spec"], node)]
    if not near:
        return None
    generation = max(_generation(each) for each in near)
    near = [each for each in near if _generation(each) == generation]
    spec = near[0]["spec"]
    count, whole = spec["pool"].get("resourceSliceCount"), near
    if len(near) != count:
        if any(_generation(each) > generation for each in slices):
            # The driver is replacing the pool by one of which the node reaches nothing.
            return None
        whole = [each for each in slices if _generation(each) == generation]
    made = Pool(spec["driver"], spec["pool"]["name"], incomplete=len(whole) != count, invalid=False)
    made.published = [device for each in whole for device in _devices(each)]
    made.devices = [device for each in near for device in _devices(each)]
    made.invalid = len({device.id for device in made.devices}) < len(made.devices)
    for shared in (shared for each in whole for shared in each["spec"].get("sharedCounters") or ()):
        made.invalid = made.invalid or shared["name"] in made.counters
        made.counters[shared["name"]] = shared.get("counters") or {}
    made.invalid = made.invalid or not all(_counts(device, made.counters) for device in made.published)
    made.devices = [device for device in made.devices if _device_near(device, node)]
    return made


def _counts(device: Device, counters: dict[str, Object]) -> bool:
    """Whether all the counters that a device takes from are there."""
    return all(
        part["counterSet"] in counters and (part.get("counters") or {}).keys() <= counters[part["counterSet"]].keys()
        for part in device.spec.get("consumesCounters") or ()
    )


def _has_conditions(pool: Pool) -> bool:
    return any("bindingConditions" in device.spec for device in pool.devices)


def devices_near(slices: Iterable[Object], node: Object) -> Iterator[Device]:
    """The devices of these slices that the node can reach, whatever their pools are like."""
    for each in slices:
        if _near(each["spec"], node):
            yield from (device for device in _devices(each) if _device_near(device, node))


def _near(spec: Object, node: Object) -> bool:
    if spec.get("perDeviceNodeSelection"):
        return any(reaches(device, node) for device in spec.get("devices") or ())
    return reaches(spec, node)


def _device_near(device: Device, node: Object) -> bool:
    return not device.slice["spec"].get("perDeviceNodeSelection") or reaches(device.spec, node)


def _devices(each: Object) -> Iterator[Device]:
    spec, metadata = each["spec"], each["metadata"]
    for device in spec.get("devices") or ():
        found = DeviceId(spec["driver"], spec["pool"]["name"], device["name"])
        key = (metadata.get("uid") or metadata["name"], metadata.get("resourceVersion") or "", device["name"])
        yield Device(found, device, each, key)
