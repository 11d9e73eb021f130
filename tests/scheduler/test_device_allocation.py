"""Which devices claims get (the cases of upstream's structured allocator)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.devices.allocator import Allocator, InUse
from engine.scheduler.devices.pools import DeviceId, Slices
from engine.scheduler.devices.requests import AllocationError, NodeAllocationError
from engine.scheduler.devices.selectors import Verdicts
from engine.scheduler.framework.status import Code
from engine.scheduler.plugins.dynamic_resources import DynamicResources
from tests.scheduler.devices import DRIVER, claim, device, device_class, published, selector, wants, way
from tests.scheduler.harness import Bench
from tests.scheduler.objects import node, pod

NODE = node("n1", labels={"rack": "1"})
EVERY: dict[str, Any] = {"allocationMode": "All"}
TAINT = {"key": "broken", "effect": "NoSchedule"}
SAME = [{"requests": [], "matchAttribute": f"{DRIVER}/numa"}]
DIFFERENT = [{"requests": [], "distinctAttribute": f"{DRIVER}/numa"}]


def allocate(
    claims: Sequence[Object],
    slices: Sequence[Object],
    *,
    classes: Sequence[Object] = (device_class(),),
    taken: Sequence[str] = (),
) -> list[Object] | None:
    allocator = Allocator(
        list(claims),
        in_use=InUse({DeviceId(DRIVER, *each.split("/")) for each in taken}),
        class_of={each["metadata"]["name"]: each for each in classes}.get,
        slices=Slices(slices),
        verdicts=Verdicts(),
        new_share=lambda: "share",
    )
    return allocator.allocate(NODE)


def chosen(allocations: list[Object] | None) -> list[list[str]] | None:
    """For each claim `request=device`."""
    if allocations is None:
        return None
    return [[f"{r['request']}={r['device']}" for r in each["devices"]["results"]] for each in allocations]


A, B, C = device("a", numa=1, model="big"), device("b", numa=2, model="small"), device("c", numa=2, model="big")
FOUR = published(*(device(name) for name in "abcd"))


@pytest.mark.parametrize(
    ("claims", "slices", "expected"),
    [
        pytest.param([], [], [], id="no claims"),
        pytest.param([claim("x", wants())], [], None, id="no slices"),
        pytest.param([claim("x", wants())], [published(A)], [["r=a"]], id="one of one"),
        pytest.param([claim("x", wants())], [published(A, node="n2")], None, id="another node's"),
        pytest.param([claim("x", wants(count=2))], [published(A)], None, id="too few"),
        pytest.param([claim("x", wants(count=2))], [published(A, B, C)], [["r=a", "r=b"]], id="the first two"),
        pytest.param(
            [claim("x", wants()), claim("y", wants())], [published(A, B)], [["r=a"], ["r=b"]], id="two claims"
        ),
        pytest.param([claim("x", wants()), claim("y", wants())], [published(A)], None, id="two claims of one device"),
        pytest.param(
            [claim("x", wants("any"), wants("big", 'device.attributes["gpu.example.com"].model == "big"'))],
            [published(A, B)],
            [["any=b", "big=a"]],
            id="an earlier choice is taken back",
        ),
        pytest.param(
            [claim("x", wants(count=3))],
            [published(A, name="s1", count=2), published(B, C, name="s2", count=2)],
            [["r=a", "r=b", "r=c"]],
            id="several slices of a pool",
        ),
        pytest.param(
            [claim("x", wants())],
            [published(A, name="s1", generation=1), published(B, name="s2", generation=2)],
            [["r=b"]],
            id="the newest generation",
        ),
        pytest.param(
            [claim("x", wants())],
            [published(A, pool="p", count=2), published(B, name="s2", pool="p", node="n2", generation=2)],
            None,
            id="a newer generation that is not here",
        ),
        pytest.param(
            [claim("x", wants())],
            [published(A, pool="p"), published(B, name="s2", pool="p", node="n2", generation=2)],
            [["r=a"]],
            id="a newer generation that is not here beside all of the older",
        ),
        pytest.param(
            [claim("x", wants(), wants("s"))],
            [published(device("a", bindingConditions=["ok"]), pool="p"), published(B, name="s2", pool="q")],
            [["r=b", "s=a"]],
            id="pools with devices to be made ready last",
        ),
        pytest.param([claim("x", wants())], [published(A, count=2)], None, id="an incomplete pool"),
        pytest.param(
            [claim("x", wants())],
            [published(A, count=2), published(B, name="s2", pool="other")],
            [["r=b"]],
            id="an incomplete pool beside another",
        ),
        pytest.param([claim("x", wants())], [published(A, node="", allNodes=True)], [["r=a"]], id="of all nodes"),
        pytest.param(
            [claim("x", wants(**EVERY))],
            [published(A, B, name="s1"), published(C, name="s2", pool="q")],
            [["r=a", "r=b", "r=c"]],
            id="all",
        ),
        pytest.param(
            [claim("x", wants("r", 'device.attributes["gpu.example.com"].numa == 2', **EVERY))],
            [published(A, B, C)],
            [["r=b", "r=c"]],
            id="all that match",
        ),
        pytest.param([claim("x", wants(**EVERY))], [], None, id="all of none"),
        pytest.param(
            [claim("x", wants(**EVERY)), claim("y", wants())], [published(A)], None, id="all and then one more"
        ),
        pytest.param(
            [claim("x", wants(count=2), constraints=SAME)], [published(A, B, C)], [["r=b", "r=c"]], id="one value"
        ),
        pytest.param(
            [claim("x", wants(count=3), constraints=SAME)], [published(A, B, C)], None, id="one value of too few"
        ),
        pytest.param(
            [claim("x", wants(count=2), constraints=DIFFERENT)],
            [published(B, C, A)],
            [["r=b", "r=a"]],
            id="several values",
        ),
        pytest.param(
            [claim("x", wants("one"), wants("two"), constraints=[{**SAME[0], "requests": ["two"]}])],
            [published(A, B)],
            [["one=a", "two=b"]],
            id="a constraint of some requests",
        ),
        pytest.param(
            [claim("x", wants(), constraints=[{"matchAttribute": f"{DRIVER}/none"}])],
            [published(A)],
            None,
            id="a constraint on what no device has",
        ),
        pytest.param(
            [claim("x", wants(adminAccess=True)), claim("y", wants())],
            [published(A)],
            None,
            id="claims of one pod share nothing, whatever access they have",
        ),
        pytest.param([claim("x", wants())], [published(device("a", taints=[TAINT]))], None, id="tainted"),
        pytest.param(
            [claim("x", wants())],
            [published(device("a", taints=[{**TAINT, "effect": "None"}]))],
            [["r=a"]],
            id="a taint without effect",
        ),
        pytest.param(
            [claim("x", wants(tolerations=[{"key": "broken", "operator": "Exists"}]))],
            [published(device("a", taints=[TAINT]))],
            [["r=a"]],
            id="tolerated",
        ),
        pytest.param(
            [claim("x", {"name": "r", "firstAvailable": [way("many", count=3), way("few", count=2)]})],
            [published(A, B)],
            [["r/few=a", "r/few=b"]],
            id="the first that there is",
        ),
        pytest.param(
            [claim("x", {"name": "r", "firstAvailable": [way("one"), way("two", count=2)]}, wants("s"))],
            [published(A, B)],
            [["r/one=a", "s=b"]],
            id="an alternative beside a request",
        ),
        pytest.param(
            [claim("x", {"name": "r", "firstAvailable": [way("many", count=40), way("few")]})],
            [published(A)],
            [["r/few=a"]],
            id="an alternative that no claim can hold",
        ),
        pytest.param(
            [claim("x", wants())], [published(device("a", bindingConditions=["ok"]))], [["r=a"]], id="conditional"
        ),
    ],
)
def test_choice(claims: list[Object], slices: list[Object], expected: Any) -> None:
    assert chosen(allocate(claims, slices)) == expected


def test_devices_in_use_are_left_out() -> None:
    assert chosen(allocate([claim("x", wants())], [FOUR], taken=["n1/a", "n1/b"])) == [["r=c"]]
    assert chosen(allocate([claim("x", wants(**EVERY))], [FOUR], taken=["n1/a"])) is None
    assert chosen(allocate([claim("x", wants(adminAccess=True))], [FOUR], taken=["n1/a"])) == [["r=a"]]


SLICED = published(
    device("whole", consumesCounters=[{"counterSet": "card", "counters": {"memory": {"value": "8Gi"}}}]),
    device("half-1", consumesCounters=[{"counterSet": "card", "counters": {"memory": {"value": "4Gi"}}}]),
    device("half-2", consumesCounters=[{"counterSet": "card", "counters": {"memory": {"value": "4Gi"}}}]),
    name="devices",
    count=2,
)
COUNTERS = published(
    name="counters",
    count=2,
    sharedCounters=[{"name": "card", "counters": {"memory": {"value": "8Gi"}}}],
)


@pytest.mark.parametrize(
    ("count", "taken", "expected"),
    [
        pytest.param(1, [], [["r=whole"]], id="whole"),
        pytest.param(2, [], [["r=half-1", "r=half-2"]], id="two halves"),
        pytest.param(3, [], None, id="more than there is"),
        pytest.param(1, ["n1/half-1"], [["r=half-2"]], id="what is left of it"),
        pytest.param(1, ["n1/whole"], None, id="nothing left"),
    ],
)
def test_partitions_of_one_device(count: int, taken: list[str], expected: Any) -> None:
    assert chosen(allocate([claim("x", wants(count=count))], [SLICED, COUNTERS], taken=taken)) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('device.driver == "gpu.example.com"', True),
        ('device.attributes["gpu.example.com"].model == "A100"', True),
        ('device.attributes["other.org"].shared', True),
        ('"model" in device.attributes["gpu.example.com"]', True),
        ('has(device.attributes["nowhere.org"].model)', False),
        ('"model" in device.attributes["nowhere.org"]', False),
        ('"other.org" in device.attributes', True),
        ('"nowhere.org" in device.attributes', False),
        ('"gpu.example.com" in device.capacity && !("nowhere.org" in device.capacity)', True),
        ('device.attributes["gpu.example.com"].ways.exists(w, w.startsWith("nv"))', True),
        ('device.attributes["gpu.example.com"].versions.all(v, v.isGreaterThan(semver("1.0.0")))', False),
        ('1 in device.attributes["gpu.example.com"].places', True),
        ('device.attributes["gpu.example.com"].count > 3', True),
        ('device.attributes["gpu.example.com"].version.isGreaterThan(semver("1.2.0"))', True),
        ('device.attributes["gpu.example.com"].version.major() == 2', False),
        ('device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0', True),
        ('device.capacity["gpu.example.com"].memory.isLessThan(quantity("40Gi"))', False),
        ('cel.bind(gpu, device.attributes["gpu.example.com"], gpu.model == "A100" && gpu.count == 4)', True),
        ("device.allowMultipleAllocations", False),
    ],
)
def test_selectors(expression: str, expected: bool) -> None:
    attributes = {
        "model": {"string": "A100"},
        "other.org/shared": {"bool": True},
        "count": {"int": 4},
        "version": {"version": "1.2.3"},
        "ways": {"strings": ["pci", "nvlink"]},
        "versions": {"versions": ["1.0.0", "2.0.0"]},
        "places": {"ints": [0, 1]},
    }
    slices = [published(device("a", capacity={"memory": "80Gi"}, attributes=attributes))]
    found = chosen(allocate([claim("x", wants("r", expression))], slices))
    assert found == ([["r=a"]] if expected else None)
    of_class = device_class("gpu", expression)
    assert chosen(allocate([claim("x", wants())], slices, classes=[of_class])) == found


@pytest.mark.parametrize(
    ("requests", "devices", "text"),
    [
        pytest.param(
            [wants(count=33)],
            {},
            "claim default/x: number of requested devices 33 exceeds the claim limit of 32",
            id="too many",
        ),
        pytest.param(
            [wants(kind="none")],
            {},
            "claim default/x, request r: could not retrieve device class none: "
            'deviceclass.resource.k8s.io "none" not found',
            id="no class",
        ),
        pytest.param(
            [wants("r", 'device.attributes["gpu.example.com"].none == 1')],
            {},
            "claim default/x: selector #0 on device gpu.example.com/n1/a: CEL runtime error: no such key: none",
            id="no attribute",
        ),
        pytest.param(
            [wants("r", "dyn(device.driver)")],
            {},
            "claim default/x: selector #0 on device gpu.example.com/n1/a: CEL runtime error: CEL result of type string "
            "could not be converted to bool: type conversion error from 'string' to 'bool'",
            id="no bool",
        ),
        pytest.param(
            [wants("r", '"text"')],
            {},
            "claim default/x: selector #0: CEL compile error: must evaluate to bool or the unknown type, not string",
            id="never a bool",
        ),
        pytest.param(
            [wants(allocationMode="Some")],
            {},
            "claim default/x, request r: unsupported count mode Some",
            id="unknown mode",
        ),
        pytest.param(
            [wants()],
            {"constraints": [{"requests": ["r"]}]},
            "claim default/x, constraint #0: empty constraint (unsupported constraint type?)",
            id="unknown constraint",
        ),
        pytest.param(
            [wants(**EVERY)],
            {"constraints": SAME},
            "claim default/x, request r: cannot add device gpu.example.com/n1/b "
            "because a claim constraint would not be satisfied",
            id="all against a constraint",
        ),
    ],
)
def test_what_can_never_be_allocated(requests: list[Object], devices: dict[str, Any], text: str) -> None:
    with pytest.raises(AllocationError) as failure:
        allocate([claim("x", *requests, **devices)], [published(A, B)])
    assert str(failure.value) == text


def sliced(name: str, *devices: Object, node: str = "n1", **spec: Any) -> Object:
    """One of the two slices of a pool."""
    return published(*devices, name=name, pool="p", node=node, count=2, **spec)


def card(**counters: str) -> Object:
    return {"name": "card", "counters": {name: {"value": value} for name, value in counters.items()}}


def part_of_card(**counters: str) -> Object:
    taken = card(**counters)
    return device("part", consumesCounters=[{"counterSet": taken["name"], "counters": taken["counters"]}])


MISCOUNTED = {
    "two counter sets of one name": [sliced("s1", sharedCounters=[card()]), sliced("s2", A, sharedCounters=[card()])],
    "no such counter set": [sliced("s1", part_of_card(memory="1Gi")), sliced("s2", A)],
    "no such counter": [sliced("s1", part_of_card(memory="1Gi")), sliced("s2", sharedCounters=[card(cores="8")])],
    "no such counter set for a device elsewhere": [
        sliced("s1", A),
        sliced("s2", part_of_card(memory="1Gi"), node="n2"),
    ],
}


@pytest.mark.parametrize(
    ("request_", "slices", "text"),
    [
        pytest.param(
            wants(**EVERY),
            [published(A, count=2)],
            "claim default/x, request r: asks for all devices, "
            "but resource pool gpu.example.com/n1 is currently being updated",
            id="all of an incomplete pool",
        ),
        pytest.param(
            wants(**EVERY),
            [published(A, A)],
            "claim default/x, request r: asks for all devices, "
            "but resource pool gpu.example.com/n1 is currently invalid",
            id="all of an invalid pool",
        ),
        pytest.param(wants(), [published(A, A)], "invalid resource pools were encountered", id="an invalid pool"),
        *(
            pytest.param(wants(), slices, "invalid resource pools were encountered", id=name)
            for name, slices in MISCOUNTED.items()
        ),
    ],
)
def test_what_cannot_be_allocated_on_this_node(request_: Object, slices: list[Object], text: str) -> None:
    with pytest.raises(NodeAllocationError) as failure:
        allocate([claim("x", request_)], slices)
    assert str(failure.value) == text


def test_the_result_says_where_it_can_be_used_and_how() -> None:
    rack = {"key": "rack", "operator": "In", "values": ["1"]}
    shared = published(
        A, name="s", node="", pool="rack-1", nodeSelector={"nodeSelectorTerms": [{"matchExpressions": [rack]}]}
    )
    opaque = {"opaque": {"driver": DRIVER, "parameters": {"mode": "fast"}}}
    fast = device_class("gpu", config=[opaque])
    asked = claim(
        "x",
        wants(tolerations=[{"operator": "Exists"}]),
        config=[{"requests": ["r"], **opaque}, {"requests": ["none"], **opaque}],
    )
    assert allocate([asked], [shared], classes=[fast]) == [
        {
            "devices": {
                "results": [
                    {
                        "request": "r",
                        "driver": DRIVER,
                        "pool": "rack-1",
                        "device": "a",
                        "tolerations": [{"operator": "Exists"}],
                    }
                ],
                # What is for all requests names none.
                "config": [{"source": "FromClass", **opaque}, {"source": "FromClaim", **opaque}],
            },
            "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [rack]}]},
        }
    ]
    local = allocate([claim("x", wants("one", adminAccess=True), wants("two"))], [published(A, B)], classes=[fast])
    assert local is not None
    assert local[0]["devices"]["results"][0]["adminAccess"] is True
    assert local[0]["devices"]["config"] == [{"source": "FromClass", **opaque}]
    here = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    assert local[0]["nodeSelector"] == {"nodeSelectorTerms": [{"matchFields": [here]}]}
    anywhere = allocate([claim("x", wants())], [published(A, node="", allNodes=True)])
    assert anywhere is not None
    assert "nodeSelector" not in anywhere[0]


def test_devices_may_say_themselves_which_nodes_reach_them() -> None:
    slices = [
        published(
            device("far", nodeName="n2"),
            device("near", nodeName="n1"),
            node="",
            perDeviceNodeSelection=True,
        )
    ]
    found = allocate([claim("x", wants())], slices)
    assert chosen(found) == [["r=near"]]
    assert found is not None
    assert found[0]["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"][0]["values"] == ["n1"]


def test_an_empty_selector_is_refused() -> None:
    request = wants()
    request["exactly"]["selectors"] = [{}]
    with pytest.raises(AllocationError, match="CEL expression empty"):
        allocate([claim("x", request)], [FOUR])
    assert selector("true") == {"cel": {"expression": "true"}}


WHOLE: dict[str, Any] = {"resourceClaims": [{"name": "d", "resourceClaimName": "c"}]}


@pytest.mark.parametrize(
    ("request_", "code", "message"),
    [
        pytest.param(
            {"name": "r"},
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            "resource claim default/c, request r: unknown request type",
            id="of no kind",
        ),
        pytest.param(wants("r", kind=""), Code.ERROR, "request r: unsupported request type", id="of no class"),
        pytest.param(
            {"name": "r", "firstAvailable": [way("a"), way("b", kind="none")]},
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            "request r/b: device class none does not exist",
            id="an alternative of a class that is not there",
        ),
    ],
)
def test_requests_that_no_node_can_meet(request_: Object, code: Code, message: str) -> None:
    bench = Bench([node("n1")], others=[device_class(), claim("c", request_)])
    status = bench.filter(DynamicResources, pod("p", **WHOLE))["n1"]
    assert (status.code, status.message) == (code, message)
