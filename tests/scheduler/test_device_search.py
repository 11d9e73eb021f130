"""How far the search for devices goes: what is the same is not tried twice, and what takes too long is given up."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.devices.allocator import Allocator, InUse
from engine.scheduler.devices.pools import Slices
from engine.scheduler.devices.requests import SearchTimeoutError
from engine.scheduler.devices.selectors import Verdicts
from engine.scheduler.framework.status import Code
from engine.scheduler.plugins.dynamic_resources import DynamicResources
from tests.scheduler.devices import DRIVER, claim, device, device_class, published, wants, way
from tests.scheduler.harness import Bench
from tests.scheduler.objects import node, pod

NUMA = f"{DRIVER}/numa"
SHARED: dict[str, Any] = {"allowMultipleAllocations": True, "capacity": {"memory": "8Gi"}}


def search(claims: list[Object], *devices: Object, boards: str = "") -> list[list[str]] | None:
    """For each claim `request=device`, with what it consumes; each of the `boards` has 7 units."""
    counters = [{"name": board, "counters": {"units": {"value": "7"}}} for board in boards]
    slices = [published(*devices, name="a", count=2), published(name="b", count=2, sharedCounters=counters)]
    allocator = Allocator(
        claims,
        in_use=InUse(),
        class_of={"gpu": device_class()}.get,
        slices=Slices(slices),
        verdicts=Verdicts(),
        new_share=lambda: "share",
    )
    found = allocator.allocate(node("n1"))
    if found is None:
        return None
    return [[_shown(result) for result in each["devices"]["results"]] for each in found]


def _shown(result: Object) -> str:
    consumed = ",".join(f" {name}:{amount}" for name, amount in (result.get("consumedCapacity") or {}).items())
    return f"{result['request']}={result['device']}{consumed}{' shared' if 'shareID' in result else ''}"


def many(count: int, **fields: Any) -> list[Object]:
    return [device(f"d{i}", numa=i // 4, **fields) for i in range(count)]


@pytest.mark.parametrize(
    ("claims", "devices", "expected"),
    [
        pytest.param([claim("x", wants(count=9))], many(8), None, id="one more than there are"),
        pytest.param([claim("x", wants(count=21))], many(20), None, id="one more than there are of many"),
        pytest.param([claim("x", *(wants(f"r{i}") for i in range(10)))], many(9), None, id="a request too many"),
        pytest.param([claim(f"x{i}", wants()) for i in range(13)], many(12), None, id="a claim too many"),
        pytest.param(
            [
                claim(f"x{i}", {"name": "r", "firstAvailable": [way("big", count=3), way("small", count=2)]})
                for i in range(7)
            ],
            many(13),
            None,
            id="a claim with alternatives too many",
        ),
        *(
            pytest.param(
                [claim("x", *(wants(f"r{i}") for i in range(9)), constraints=[{kind: NUMA}])],
                [device(f"d{i}", numa=i % 2 if kind == "matchAttribute" else i % 8) for i in range(16)],
                None,
                id=f"a request too many for a {kind}",
            )
            for kind in ("matchAttribute", "distinctAttribute")
        ),
        pytest.param(
            [claim("x", wants(count=17), constraints=[{"matchAttribute": NUMA}])],
            [device(f"d{i}", numa=i % 2) for i in range(32)],
            None,
            id="one more than are alike",
        ),
        pytest.param(
            [claim("x", wants(count=15), constraints=[{"distinctAttribute": NUMA}])],
            [device(f"d{i}", numa=i // 3) for i in range(40)],
            None,
            id="one more than are different",
        ),
        pytest.param(
            [claim("x", wants("r"), wants("s", count=16), constraints=[{"requests": ["s"], "matchAttribute": NUMA}])],
            [device(f"d{i}", numa=i % 2) for i in range(32)],
            [["r=d0", *(f"s=d{i}" for i in range(1, 32, 2))]],
            id="as many as are alike",
        ),
        pytest.param(
            [claim("x", wants(count=4)), claim("y", wants(count=5))], many(8), None, id="one more for two claims"
        ),
        pytest.param(
            [claim("x", wants(count=5), constraints=[{"matchAttribute": NUMA}])],
            many(12),
            None,
            id="one more than have one value",
        ),
        pytest.param(
            [claim("x", wants(count=3)), claim("y", wants("s", 'device.attributes["gpu.example.com"].numa == 0'))],
            many(5),
            [["r=d0", "r=d1", "r=d2"], ["s=d3"]],
            id="the last that suits is left",
        ),
        pytest.param(
            [claim("x", wants(count=2))], [device("d", **SHARED)], None, id="a shared device is one of a request's"
        ),
        pytest.param(
            [claim("x", wants("r"), wants("s"))],
            [device("d", allowMultipleAllocations=True)],
            [["r=d shared", "s=d shared"]],
            id="two requests share what has no capacity",
        ),
        pytest.param(
            [claim("x", wants("r", adminAccess=True), wants("s", adminAccess=True))],
            [
                device(
                    "d",
                    allowMultipleAllocations=True,
                    capacity={"memory": "8Gi"},
                    policies={"memory": {"default": "4Gi"}},
                )
            ],
            [["r=d memory:4Gi shared", "s=d memory:4Gi shared"]],
            id="an administrator's requests share too",
        ),
    ],
)
def test_what_is_found(claims: list[Object], devices: list[Object], expected: list[list[str]] | None) -> None:
    assert search(claims, *devices) == expected


@pytest.mark.parametrize(("requests", "found"), [(14, True), (15, False)])
def test_parts_of_boards(requests: int, found: bool) -> None:
    """Each board has a part more than it has units."""
    unit = {"units": {"value": "1"}}
    parts = [device(f"{b}{i}", consumesCounters=[{"counterSet": b, "counters": unit}]) for b in "ab" for i in range(8)]
    wanted = claim("x", *(wants(f"r{i}") for i in range(requests)))
    assert (search([wanted], *parts, boards="ab") is not None) is found


def test_a_search_without_end_is_given_up() -> None:
    devices = [device(f"d{i}", numa=i % 2, slot=i % 2 * 100 + i // 6) for i in range(60)]
    one_node = {"requests": [], "matchAttribute": NUMA}
    each_its_slot = {"requests": [], "distinctAttribute": f"{DRIVER}/slot"}
    with pytest.raises(SearchTimeoutError, match="timed out trying to allocate devices"):
        search([claim("x", wants(count=11), constraints=[one_node, each_its_slot])], *devices)


USER = pod("p", resourceClaims=[{"name": "d", "resourceClaimName": "c"}])


@pytest.mark.parametrize(
    ("timeout", "version", "code", "message"),
    [
        ("1ns", "", Code.ERROR, "node n1: timed out trying to allocate devices"),
        ("1ns", "v1.36.0", Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "timed out trying to allocate devices"),
        ("0s", "", Code.SUCCESS, ""),
        ("10s", "", Code.SUCCESS, ""),
    ],
)
def test_a_timeout_is_an_error_that_is_tried_again(timeout: str, version: str, code: Code, message: str) -> None:
    others = [device_class(), claim("c", wants(count=5)), published(*many(5))]
    bench = Bench([node("n1")], others=others, args={"DynamicResources": {"filterTimeout": timeout}}, version=version)
    status = bench.filter(DynamicResources, USER)["n1"]
    assert (status.code, status.message) == (code, message)
