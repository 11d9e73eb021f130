"""The scores of plugins that look at one node (upstream's plugins/noderesources, imagelocality, tainttoleration)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.framework.plugin import ScorePlugin
from engine.scheduler.framework.status import Code
from engine.scheduler.plugins.image_locality import ImageLocality
from engine.scheduler.plugins.node_affinity import NodeAffinity
from engine.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from engine.scheduler.plugins.node_resources_fit import NodeResourcesFit
from engine.scheduler.plugins.taint_toleration import TaintToleration
from tests.scheduler.devices import DRIVER, claim, device, device_class, published, wants
from tests.scheduler.harness import Bench
from tests.scheduler.objects import container, node, pod, taint

MOST = {"type": "MostAllocated"}
RATIO_LEAST = {
    "type": "RequestedToCapacityRatio",
    "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]},
}
RATIO_MOST = {
    "type": "RequestedToCapacityRatio",
    "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]},
}
GPU_ONLY = {"type": "MostAllocated", "resources": [{"name": "example.com/gpu", "weight": 1}]}
WEIGHED = {
    "type": "LeastAllocated",
    "resources": [{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}],
}

MOST_GPUS, LEAST_GPUS = (
    {"scoringStrategy": {"type": kind, "resources": [{"name": "example.com/gpu", "weight": 1}]}}
    for kind in ("MostAllocated", "LeastAllocated")
)
BALANCED_GPUS = {"resources": [{"name": "example.com/gpu", "weight": 1}, {"name": "cpu", "weight": 1}]}

SMALL, LARGE = node("small", cpu="4", memory="10000"), node("large", cpu="6", memory="10000")

STRATEGIES: dict[str, tuple[dict[str, Any], list[int]]] = {
    "least allocated": ({}, [37, 50]),
    "least allocated, weighed": (WEIGHED, [31, 50]),
    "most allocated": (MOST, [62, 50]),
    "ratio, least": (RATIO_LEAST, [38, 50]),
    "ratio, most": (RATIO_MOST, [63, 50]),
    "a resource that the pod does not ask for": (GPU_ONLY, [0, 0]),
}


@pytest.mark.parametrize(("strategy", "expected"), STRATEGIES.values(), ids=STRATEGIES)
def test_scoring_strategies(strategy: dict[str, Any], expected: list[int]) -> None:
    bench = Bench([SMALL, LARGE], args={"NodeResourcesFit": {"scoringStrategy": strategy}})
    scores = bench.scores(NodeResourcesFit, pod("p", cpu="3", memory="5000"))
    assert scores is not None
    assert list(scores.values()) == expected


TAKEN = {"results": [{"request": "r", "driver": DRIVER, "pool": "devices", "device": name} for name in ("a", "b")]}
GPUS = [
    device_class("big", "device.attributes['gpu.example.com'].big", extendedResourceName="example.com/gpu"),
    published(*(device(name, big=True) for name in "abcdefgh"), device("small", big=False), name="s1", node="devices"),
    published(*(device(name, big=True) for name in "xyz"), device("w", big=True), name="s2", node="idle"),
    claim("c", wants(), status={"allocation": {"devices": TAKEN}}),
]


@pytest.mark.parametrize(
    ("version", "kind", "args", "expected"),
    [
        pytest.param("", NodeResourcesFit, MOST_GPUS, [50, 50, 66, 0], id="the fullest"),
        pytest.param("", NodeResourcesFit, LEAST_GPUS, [50, 50, 33, 0], id="the emptiest"),
        pytest.param("v1.35.0", NodeResourcesFit, MOST_GPUS, [0, 0, 66, 0], id="an older version"),
        # Of devices: 4/8 beside cpu 1/4, before that 2/8 beside 0; 2/4 beside 1/4, before that nothing; 2/3 beside 1/4.
        pytest.param("", NodeResourcesBalancedAllocation, BALANCED_GPUS, [75, 68, 64, 75], id="the most even"),
    ],
)
def test_extended_resources_that_devices_stand_behind(
    version: str, kind: type[ScorePlugin], args: dict[str, Any], expected: list[int]
) -> None:
    nodes = [node("devices"), node("idle"), node("plugin", allocatable={"example.com/gpu": "3"}), node("none")]
    bench = Bench(nodes, others=GPUS, args={kind.name: args}, version=version)
    wanted = pod("p", containers=[container(requests={"cpu": "1", "example.com/gpu": "2"})])
    scores = bench.scores(kind, wanted)
    assert scores is not None
    assert list(scores.values()) == expected


def test_a_node_that_has_too_little_gets_nothing() -> None:
    bench = Bench([node("n", cpu="1", memory="10000")])
    assert bench.scores(NodeResourcesFit, pod("p", cpu="3", memory="5000")) == {"n": 25}


def test_what_is_there_counts() -> None:
    there = [pod("a", node_name="small", cpu="1", memory="2000"), pod("b", node_name="small", cpu="1", memory="3000")]
    bench = Bench([SMALL, LARGE], there)
    # small: cpu (4000-3000)/4000, memory (10000-10000)/10000; large: cpu 5000/6000, memory 5000/10000
    assert bench.scores(NodeResourcesFit, pod("p", cpu="1", memory="5000")) == {"small": 12, "large": 66}


@pytest.mark.parametrize(
    ("version", "there", "expected"),
    [
        # small: 3000/4000 and 5000/10000; large: 3000/6000 and 5000/10000
        ("v1.35.0", [], {"small": 87, "large": 100}),
        # Empty nodes are balanced.
        ("v1.36.0", [], {"small": 68, "large": 75}),
        # large was at 0 and 5000/10000: a balance of 75; it ends at 3000/6000 and 10000/10000, which is 75 too.
        ("", [pod("a", node_name="large", memory="5000")], {"small": 68, "large": 75}),
        # small was at 0 and 5000/10000 (75) and ends at 3000/4000 and 10000/10000 (87).
        ("", [pod("a", node_name="small", memory="5000")], {"small": 81, "large": 75}),
    ],
    ids=["as it is, before 1.36", "of empty nodes", "as unbalanced as before", "better than before"],
)
def test_balanced_allocation(version: str, there: list[Object], expected: dict[str, int]) -> None:
    bench = Bench([SMALL, LARGE], there, version=version)
    assert bench.scores(NodeResourcesBalancedAllocation, pod("p", cpu="3", memory="5000")) == expected


def test_balanced_allocation_skips_pods_that_ask_for_nothing() -> None:
    assert Bench([SMALL]).scores(NodeResourcesBalancedAllocation, pod("p")) is None


def test_balanced_allocation_of_three_resources() -> None:
    args = {"resources": [{"name": name, "weight": 1} for name in ("cpu", "memory", "example.com/gpu")]}
    bench = Bench(
        [node("n", cpu="4", memory="8000", allocatable={"example.com/gpu": "8"})],
        args={"NodeResourcesBalancedAllocation": args},
    )
    wanted = pod("p", containers=[container(requests={"cpu": "3", "memory": "4000", "example.com/gpu": "2"})])
    # fractions 0.75, 0.5, 0.25: deviation sqrt(0.125 / 3)
    assert bench.scores(NodeResourcesBalancedAllocation, wanted) == {"n": 50 + (50 + 79 - 100) // 2}


MB = 1024 * 1024


def image(name: str, megabytes: int) -> dict[str, Any]:
    return {"names": [name], "sizeBytes": megabytes * MB}


def test_image_locality_prefers_the_larger_image() -> None:
    one = node("one", images=[image("gcr.io/40:latest", 40), image("gcr.io/2000:v1", 2000)])
    two = node("two", images=[image("gcr.io/250:latest", 250)])
    wanted = pod("p", containers=[container("a", image="gcr.io/40"), container("b", image="gcr.io/250")])
    assert Bench([one, two]).scores(ImageLocality, wanted) == {"one": 0, "two": 5}


def test_image_locality_counts_an_image_by_how_many_nodes_have_it() -> None:
    nodes = [node("one", images=[image("gcr.io/2000:v1", 2000)]), node("two"), node("three"), node("four")]
    wanted = pod("p", containers=[container(image="gcr.io/2000:v1")])
    # 2000 MB on one node of four count for 500: (500 - 23) / (1000 - 23)
    assert Bench(nodes).scores(ImageLocality, wanted) == {"one": 48, "two": 0, "three": 0, "four": 0}


def test_taint_toleration_prefers_nodes_with_fewer_soft_taints() -> None:
    soft = [taint(f"k{i}", "PreferNoSchedule") for i in range(4)]
    bench = Bench([node("none"), node("two", taints=soft[:2]), node("four", taints=soft)])
    assert bench.scores(TaintToleration, pod("p")) == {"none": 100, "two": 50, "four": 0}
    tolerant = pod("p", tolerations=[{"key": f"k{i}", "operator": "Exists"} for i in range(4)])
    assert bench.scores(TaintToleration, tolerant) == {"none": 100, "two": 100, "four": 100}


def preferred(*weighed: tuple[int, str, str]) -> dict[str, Any]:
    terms = [
        {
            "weight": weight,
            "preference": {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]},
        }
        for weight, key, value in weighed
    ]
    return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}}


def test_node_affinity_adds_the_weights_of_matching_preferences() -> None:
    bench = Bench([node("both", labels={"a": "1", "b": "1"}), node("a", labels={"a": "1"}), node("none")])
    wanted = pod("p", **preferred((6, "a", "1"), (2, "b", "1")))
    assert bench.scores(NodeAffinity, wanted) == {"both": 100, "a": 75, "none": 0}
    assert bench.scores(NodeAffinity, pod("p")) is None


@pytest.mark.parametrize(
    ("term", "problem"),
    [
        pytest.param(
            {"key": "cores", "operator": "Gt", "values": ["few"]},
            '[0].matchExpressions[0].values[0]: Invalid value: "few": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
            id="no number",
        ),
        pytest.param({"key": "disk", "operator": "Exists"}, "", id="sound"),
    ],
)
def test_a_preference_that_cannot_be_read_ends_the_attempt(term: dict[str, Any], problem: str) -> None:
    bench = Bench([node("n1"), node("n2")])
    terms = [{"weight": 1, "preference": {"matchExpressions": [term]}}]
    wanted = pod("p", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}})
    placed = bench.schedule(wanted)
    if problem:
        assert placed.status is not None
        assert placed.status.message == f'running PreScore plugin "NodeAffinity": {problem}'
        assert placed.status.code is Code.ERROR
    else:
        assert placed.status is None
