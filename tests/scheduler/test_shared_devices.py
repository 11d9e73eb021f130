"""Devices that are shared, tainted by rules, and bound to nodes (upstream's consumable_capacity_test, tracker_test)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.devices.allocator import Allocator, Features, InUse
from engine.scheduler.devices.pools import Slices
from engine.scheduler.devices.requests import AllocationError
from engine.scheduler.devices.selectors import Verdicts
from engine.scheduler.plugins.resource_claims import allocated_devices, consumed_capacities
from tests.scheduler.devices import DRIVER, claim, device, device_class, published, wants
from tests.scheduler.objects import node

NODE = node("n1")
RANGE = {"default": "1Gi", "validRange": {"min": "1Gi", "max": "6Gi", "step": "2Gi"}}
MILLI = {"default": "1", "validRange": {"min": "100m", "step": "250m"}}
ONES = {"default": "1", "validRange": {"min": "1", "step": "1"}}
TWOS = {"default": "1", "validRange": {"min": "1", "step": "2"}}
EVEN = {"default": "0", "validRange": {"min": "0", "step": "2"}}
VALUES = {"default": "2", "validValues": ["2", "4", "8"]}


def shared(name: str, value: str = "10Gi", policy: Object | None = None) -> Object:
    policies = {"memory": policy} if policy is not None else None
    return device(name, capacity={"memory": value}, policies=policies, allowMultipleAllocations=True)


def asking(memory: str = "", name: str = "r", **fields: Any) -> Object:
    if memory:
        fields["capacity"] = {"requests": {"memory": memory}}
    return wants(name, **fields)


def allocate(
    *claims: Object,
    devices: list[Object],
    before: list[Object] | None = None,
    rules: list[Object] | None = None,
    features: Features | None = None,
) -> list[Object] | None:
    given = before or []
    allocator = Allocator(
        list(claims),
        in_use=InUse({d for each in given for d in allocated_devices(each)}, consumed_capacities(given)),
        class_of={"gpu": device_class()}.get,
        slices=Slices([published(*devices)], rules or ()),
        verdicts=Verdicts(),
        new_share=lambda: "share",
        features=features or Features(),
    )
    return allocator.allocate(NODE)


def consumed(found: list[Object] | None) -> list[str] | None:
    """`device=memory` of every result."""
    if found is None:
        return None
    results = [result for each in found for result in each["devices"]["results"]]
    return [f"{r['device']}={r.get('consumedCapacity', {}).get('memory', '-')}" for r in results]


def holding(name: str, memory: str, device_name: str = "a") -> Object:
    result = {"request": "r", "driver": DRIVER, "pool": "n1", "device": device_name, "shareID": name}
    return claim(
        name, status={"allocation": {"devices": {"results": [{**result, "consumedCapacity": {"memory": memory}}]}}}
    )


SHARES: dict[str, tuple[list[Object], list[Object], list[Object], list[str] | None]] = {
    "as much as is asked": ([asking("3Gi")], [shared("a")], [], ["a=3Gi"]),
    "all where nothing is asked": ([asking()], [shared("a")], [], ["a=10Gi"]),
    "the default where nothing is asked": ([asking()], [shared("a", policy=RANGE)], [], ["a=1Gi"]),
    "at least the least": ([asking("1Mi")], [shared("a", policy=RANGE)], [], ["a=1Gi"]),
    "in whole steps": ([asking("2Gi")], [shared("a", policy=RANGE)], [], ["a=3Gi"]),
    "in whole units": ([asking("200m")], [shared("a", "2", policy=MILLI)], [], ["a=1"]),
    "a fraction is brought to the next step": ([asking("1.001")], [shared("a", "3", policy=ONES)], [], ["a=2"]),
    "in the form of the step": ([asking("2G")], [shared("a", policy=RANGE)], [], ["a=3Gi"]),
    "as much as can be told": (
        [asking("9223372036854775806")], [shared("a", "9223372036854775807", policy=TWOS)], [],
        ["a=9223372036854775807"],
    ),
    "more than a share may be": ([asking("7Gi")], [shared("a", policy=RANGE)], [], None),
    "the next of the values": ([asking("3")], [shared("a", "10", policy=VALUES)], [], ["a=4"]),
    "more than the greatest value": ([asking("9")], [shared("a", "10", policy=VALUES)], [], None),
    "twice on one device": ([asking("3Gi", "r"), asking("4Gi", "s")], [shared("a")], [], ["a=3Gi", "a=4Gi"]),
    "on to the next": ([asking("6Gi", "r"), asking("6Gi", "s")], [shared("a"), shared("b")], [], ["a=6Gi", "b=6Gi"]),
    "too much for one": ([asking("6Gi", "r"), asking("6Gi", "s")], [shared("a")], [], None),
    "beside others": ([asking("6Gi")], [shared("a")], [holding("x", "2Gi"), holding("y", "2Gi")], ["a=6Gi"]),
    "too much beside others": ([asking("7Gi")], [shared("a")], [holding("x", "2Gi"), holding("y", "2Gi")], None),
    "no such capacity": ([asking("1Gi")], [device("a", capacity={"cores": "4"})], [], None),
    "a device of one's own that is big enough": (
        [asking("4Gi")], [device("a", capacity={"memory": "2Gi"}), device("b", capacity={"memory": "8Gi"})], [],
        ["b=-"],
    ),
    "a device of one's own is not shared": (
        [asking("1Gi", "r"), asking("1Gi", "s")], [device("a", capacity={"memory": "8Gi"})], [], None,
    ),
    "all that have room": (
        [asking("2Gi", allocationMode="All")], [shared("a", "2Gi"), shared("b", "1Gi"), shared("c"), device("d")],
        [holding("x", "1Gi")], ["c=2Gi"],
    ),
    "all that have room beside the others of the pod": (
        [asking("1Gi", "r"), asking("1Gi", "s", allocationMode="All")], [shared("a", "1Gi"), shared("b")], [],
        ["b=1Gi", "a=1Gi", "b=1Gi"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("requests", "devices", "before", "expected"), SHARES.values(), ids=SHARES)
def test_shares(
    requests: list[Object], devices: list[Object], before: list[Object], expected: list[str] | None
) -> None:
    assert consumed(allocate(claim("c", *requests), devices=devices, before=before)) == expected


def test_a_share_has_a_name_and_a_device_of_ones_own_none() -> None:
    found = allocate(claim("c", asking("1Gi", "r"), asking("", "s")), devices=[shared("a"), device("b")])
    assert found is not None
    assert [result.get("shareID") for result in found[0]["devices"]["results"]] == ["share", None]


def test_an_older_version_does_not_share() -> None:
    claims = [claim("c", asking("1Gi")), claim("d", asking("1Gi"))]
    assert allocate(*claims, devices=[shared("a")], features=Features(sharing=False)) is None
    assert consumed(allocate(claims[0], devices=[shared("a")], features=Features(sharing=False))) == ["a=-"]


NOT_TOLD = 'capacity "memory": capacity request cannot be represented in the device\'s range arithmetic: '


@pytest.mark.parametrize(
    ("memory", "policy", "message"),
    [
        ("-1Gi", None, 'capacity "memory": capacity value is negative'),
        ("18446744073709551619", EVEN, f"{NOT_TOLD}request 18446744073709551619 exceeds MaxInt64"),
        (
            "9223372036854775807",
            EVEN,
            f"{NOT_TOLD}rounding request 9223372036854775807 up to the next step passes MaxInt64",
        ),
    ],
)
def test_capacities_that_no_device_has(memory: str, policy: Object | None, message: str) -> None:
    with pytest.raises(AllocationError) as failure:
        allocate(claim("c", asking(memory)), devices=[shared("a", "9223372036854775808", policy=policy)])
    assert str(failure.value) == f"claim default/c: {message}"


def test_what_shares_a_device_takes_its_counters_once() -> None:
    counters = [{"counterSet": "set", "counters": {"slots": {"value": "1"}}}]
    part = {**shared("a"), "consumesCounters": counters}
    other = device("b", consumesCounters=counters)
    slices = Slices([published(part, other, sharedCounters=[{"name": "set", "counters": {"slots": {"value": "1"}}}])])

    def run(*claims: Object) -> list[str] | None:
        allocator = Allocator(
            list(claims), in_use=InUse(), class_of={"gpu": device_class()}.get, slices=slices, verdicts=Verdicts(),
            new_share=lambda: "share",
        )  # fmt: skip
        return consumed(allocator.allocate(NODE))

    two = claim("c", asking("1Gi", "r"), asking("1Gi", "s"))
    assert run(two) == ["a=1Gi", "a=1Gi"]
    assert run(two, claim("d", asking())) is None


def rule(selector: Object | None, effect: str = "NoSchedule", name: str = "rule") -> Object:
    spec: Object = {"taint": {"key": "sick", "effect": effect}}
    if selector is not None:
        spec["deviceSelector"] = selector
    return {"kind": "DeviceTaintRule", "metadata": {"name": name}, "spec": spec}


RULES: dict[str, tuple[list[Object], Object, list[str] | None]] = {
    "none": ([], wants(), ["a=-"]),
    "one device": ([rule({"device": "a"})], wants(), ["b=-"]),
    "tolerated": ([rule({"device": "a"})], wants(tolerations=[{"key": "sick", "operator": "Exists"}]), ["a=-"]),
    "one of another pool": ([rule({"pool": "other", "device": "a"})], wants(), ["a=-"]),
    "a driver": ([rule({"driver": DRIVER})], wants(), None),
    "another driver": ([rule({"driver": "other"})], wants(), ["a=-"]),
    "all of them": ([rule({})], wants(), None),
    "without a selector": ([rule(None)], wants(), None),
    "without an effect": ([rule({}, "None")], wants(), ["a=-"]),
    "two": ([rule({"device": "a"}), rule({"device": "b"}, "NoExecute", "more")], wants(), None),
}


@pytest.mark.parametrize(("rules", "request_", "expected"), RULES.values(), ids=RULES)
def test_rules_that_taint_devices(rules: list[Object], request_: Object, expected: list[str] | None) -> None:
    assert consumed(allocate(claim("c", request_), devices=[device("a"), device("b")], rules=rules)) == expected


def test_a_device_that_binds_itself_to_the_node() -> None:
    ready = device("a", bindsToNode=True, bindingConditions=["ready"], bindingFailureConditions=["failed"])
    slices = Slices([published(ready, node="", pool="fabric", allNodes=True)])
    allocator = Allocator(
        [claim("c", wants())], in_use=InUse(), class_of={"gpu": device_class()}.get, slices=slices,
        verdicts=Verdicts(), new_share=lambda: "share",
    )  # fmt: skip
    found = allocator.allocate(NODE)
    assert found is not None
    (result,) = found[0]["devices"]["results"]
    assert (result["bindingConditions"], result["bindingFailureConditions"]) == (["ready"], ["failed"])
    here = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    assert found[0]["nodeSelector"] == {"nodeSelectorTerms": [{"matchFields": [here]}]}
