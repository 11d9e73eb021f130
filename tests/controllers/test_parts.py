"""The small parts that controllers share."""

from __future__ import annotations

from datetime import UTC, datetime
from ipaddress import ip_network

import pytest

from engine.api.types import PODS, Object
from engine.clock import VirtualClock
from engine.controllers.batching import batch_period
from engine.controllers.controller import RetryLaterError
from engine.controllers.discovery import Discovery
from engine.controllers.expectations import Expectations
from engine.controllers.namespace.conditions import Findings, deletion_conditions
from engine.controllers.nodeipam import CidrSet
from engine.controllers.own_writes import OwnWrites
from engine.controllers.slow_start import slow_start

NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def test_expectations_hold_until_all_is_seen(virtual_clock: VirtualClock) -> None:
    expectations = Expectations(virtual_clock)
    assert expectations.satisfied("rs")
    expectations.expect_creations("rs", 2)
    expectations.creation_observed("rs")
    assert not expectations.satisfied("rs")
    expectations.creation_observed("rs")
    assert expectations.satisfied("rs")
    expectations.expect_deletions("rs", ["a", "b"])
    expectations.deletion_observed("rs", "a")
    expectations.deletion_observed("rs", "a")
    assert not expectations.satisfied("rs"), "one deletion counts once"
    expectations.deletion_observed("rs", "b")
    assert expectations.satisfied("rs")


async def test_expectations_that_are_never_met_expire(virtual_clock: VirtualClock) -> None:
    expectations = Expectations(virtual_clock)
    expectations.expect_creations("rs", 1)
    await virtual_clock.sleep(300)
    assert not expectations.satisfied("rs")
    await virtual_clock.sleep(1)
    assert expectations.satisfied("rs")


async def test_a_slow_start_doubles_until_something_fails(virtual_clock: VirtualClock) -> None:
    begun: list[float] = []

    async def act() -> None:
        begun.append(virtual_clock.monotonic())
        await virtual_clock.sleep(1)
        if len(begun) > 7:
            raise RuntimeError("quota")

    successes, failure = await slow_start(100, act)
    assert [begun.count(second) for second in (0, 1, 2, 3)] == [1, 2, 4, 8]
    assert len(begun) == 15
    assert successes == 7
    assert str(failure) == "quota"
    assert await slow_start(0, act) == (0, None)


def test_node_ranges_are_handed_out_in_turn_and_come_back() -> None:
    ranges = CidrSet(ip_network("10.244.0.0/22"))
    ranges.occupy("10.244.1.0/24")
    ranges.occupy("192.168.0.0/24")
    assert [ranges.allocate() for _ in range(4)] == ["10.244.0.0/24", "10.244.2.0/24", "10.244.3.0/24", None]
    ranges.release("10.244.2.0/24")
    assert ranges.allocate() == "10.244.2.0/24"


def test_conditions_of_a_namespace_that_does_not_go() -> None:
    fine = deletion_conditions([], Findings(), NOW)
    assert [each["status"] for each in fine] == ["False"] * 5
    findings = Findings(remaining={PODS: 2}, finalizers={"example.com/hold": 2}, estimate=15)
    stuck = {each["type"]: each for each in deletion_conditions(fine, findings, NOW)}
    assert stuck["NamespaceContentRemaining"]["message"] == (
        "Some resources are remaining: pods. has 2 resource instances"
    )
    assert stuck["NamespaceFinalizersRemaining"]["reason"] == "SomeFinalizersRemain"
    assert stuck["NamespaceFinalizersRemaining"]["message"] == (
        "Some finalizers are remaining: example.com/hold in 2 resource instances"
    )
    assert stuck["NamespaceDeletionContentFailure"]["status"] == "False"


def test_every_resource_is_discovered_once() -> None:
    found = [(each.gvr.group, each.gvr.resource) for each in Discovery("")]
    assert len(found) == len(set(found))
    assert ("", "pods") in found
    assert ("apps", "deployments") in found


def test_a_custom_resource_is_there_while_its_definition_is_established() -> None:
    discovery = Discovery("")
    crd: Object = {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [
                {"name": "v1alpha1", "served": True},
                {"name": "v1", "served": True},
                {"name": "v2beta1", "served": True, "storage": True},
                {"name": "v2", "served": False},
            ],
        },
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    }
    resource = discovery.crd_changed(None, crd)
    assert resource is not None
    assert resource.gvr.path("default") == "/apis/example.com/v1/namespaces/default/widgets"
    assert resource in list(discovery)
    assert discovery.crd_changed(crd, crd) is None, "nothing new"
    unserved = {**crd, "spec": {**crd["spec"], "versions": [{"name": "v1", "served": False, "storage": True}]}}
    assert discovery.crd_changed(crd, unserved) is None
    assert resource not in list(discovery)
    assert discovery.crd_changed(unserved, crd) == resource
    discovery.crd_changed(crd, None)
    assert resource not in list(discovery)


async def test_a_reconcile_waits_for_its_own_write_but_not_for_ever(virtual_clock: VirtualClock) -> None:
    def at(revision: int) -> Object:
        return {"metadata": {"name": "web", "namespace": "default", "resourceVersion": str(revision)}}

    writes = OwnWrites(virtual_clock)
    writes.check(at(1))
    writes.note(at(5))
    with pytest.raises(RetryLaterError):
        writes.check(at(4))
    writes.check(at(5))
    writes.check(at(4))
    writes.note(at(9))
    await virtual_clock.sleep(31)
    writes.check(at(2))


@pytest.mark.parametrize(
    ("pods", "seconds"),
    [
        pytest.param(3, 0.0, id="a few at once"),
        pytest.param(200, 0.2, id="many together"),
        pytest.param(9000, 1.0, id="never long"),
    ],
)
def test_changes_of_many_pods_are_taken_up_together(pods: int, seconds: float) -> None:
    assert batch_period(pods) == pytest.approx(seconds)
