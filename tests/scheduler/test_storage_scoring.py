"""How much storage is used where, and drivers that must be there (upstream's volumebinding scorer, csi limits)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from engine.scheduler.plugins.storage_scoring import StorageScorer, Usage
from engine.scheduler.plugins.volume_binding import VolumeBinding
from engine.scheduler.pod_info import PodInfo
from tests.scheduler.harness import Bench
from tests.scheduler.objects import pod
from tests.scheduler.test_volumes import NODES, ZONE, claim, storage_class, volume

RISING = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
BENT = [{"utilization": 0, "score": 0}, {"utilization": 50, "score": 5}, {"utilization": 100, "score": 0}]
GI = 2**30
DRIVER = "csi.example.com"

SCORES: dict[str, tuple[list[Object] | None, dict[str, Usage], int]] = {
    "nothing to bind": (None, {}, 0),
    "by default the emptier is better": (None, {"fast": Usage(GI, 10 * GI)}, 90),
    "all of it": (None, {"fast": Usage(GI, GI)}, 0),
    "rising": (RISING, {"fast": Usage(3 * GI, 10 * GI)}, 30),
    "more than there is": (RISING, {"fast": Usage(3 * GI, GI)}, 100),
    "no capacity": (RISING, {"fast": Usage(0, 0)}, 100),
    "bent": (BENT, {"fast": Usage(3 * GI, 4 * GI)}, 25),
    "classes count alike": (RISING, {"fast": Usage(0, GI), "slow": Usage(GI, GI)}, 50),
    "rounded": (RISING, {"a": Usage(0, 3), "b": Usage(1, 3), "c": Usage(2, 3)}, 33),
}


@pytest.mark.parametrize(("shape", "usages", "expected"), SCORES.values(), ids=SCORES)
def test_the_score_of_what_is_used(shape: list[Object] | None, usages: dict[str, Usage], expected: int) -> None:
    assert StorageScorer(shape)(usages) == expected


def capacity(name: str, zone: str, amount: str, cls: str = "fast", **fields: Any) -> Object:
    return {
        "kind": "CSIStorageCapacity",
        "metadata": {"name": name, "namespace": "default"},
        "storageClassName": cls,
        "nodeTopology": {"matchLabels": {ZONE: zone}},
        "capacity": amount,
        **fields,
    }


def driver(**spec: Any) -> Object:
    return {"kind": "CSIDriver", "metadata": {"name": DRIVER}, "spec": spec}


FAST = storage_class("fast")
TWO = [capacity("ca", "za", "10Gi"), capacity("cb", "zb", "40Gi")]
PLACES: dict[str, tuple[list[Object], dict[str, int] | None]] = {
    "volumes of two sizes": (
        [FAST, claim("c", storage_class="fast"), *(volume(f"v{z}", zone=z, size=s, storage_class="fast") for z, s in
                                                    (("za", "2Gi"), ("zb", "10Gi")))],
        {"a": 50, "b": 90},
    ),
    "capacities of two sizes": ([FAST, driver(storageCapacity=True), claim("c", storage_class="fast"), *TWO],
                                {"a": 90, "b": 98}),
    "a driver that does not tell": ([FAST, claim("c", storage_class="fast"), *TWO], {"a": 0, "b": 0}),
    "a volume counts before what is made": (
        [FAST, driver(storageCapacity=True), claim("c", storage_class="fast"), *TWO,
         volume("v", zone="za", size="4Gi", storage_class="fast")],
        {"a": 75, "b": 98},
    ),
    "a bound claim": ([FAST, claim("c", storage_class="fast", bound=True, volume="v"),
                       volume("v", storage_class="fast")], None),
}  # fmt: skip


def scores(bench: Bench, wanted: Object) -> dict[str, int] | None:
    plugin, info, state = bench.plugin(VolumeBinding), PodInfo(wanted), CycleState()
    plugin.pre_filter(state, info, bench.snapshot)
    if not plugin.pre_score(state, info, bench.snapshot, bench.rows).ok:
        return None
    return {node.name: plugin.score(state, info, node) for node in bench.snapshot.nodes}


def using(*claims: str) -> Object:
    return pod("p", volumes=[{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims])


@pytest.mark.parametrize(("others", "expected"), PLACES.values(), ids=PLACES)
def test_scores_of_nodes(others: list[Object], expected: dict[str, int] | None) -> None:
    assert scores(Bench(NODES, others=others), using("c")) == expected


def test_claims_of_one_class_share_its_capacity() -> None:
    others = [FAST, driver(storageCapacity=True), *TWO, *(claim(c, storage_class="fast", size="2Gi") for c in "cd")]
    assert scores(Bench(NODES, others=others), using("c", "d")) == {"a": 60, "b": 90}


def test_an_older_version_does_not_score_storage() -> None:
    others = [FAST, driver(storageCapacity=True), claim("c", storage_class="fast"), *TWO]
    assert scores(Bench(NODES, others=others, version="1.36.0"), using("c")) is None


# -- drivers that a node must have


def csi_node(name: str, *drivers: str) -> Object:
    listed = [{"name": each, "nodeID": name, "allocatable": {"count": 5}} for each in drivers]
    return {"kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": listed}}


GONE = f"{DRIVER} CSI driver is not installed on the node"
DEMANDS: dict[str, tuple[list[Object], str, dict[str, str]]] = {
    "it must be there": ([driver(preventPodSchedulingIfMissing=True)], "", {"a": "", "b": GONE}),
    "it need not be": ([driver()], "", {"a": "", "b": ""}),
    "nothing is known of it": ([], "", {"a": "", "b": ""}),
    "before 1.37": ([driver(preventPodSchedulingIfMissing=True)], "1.36.0", {"a": "", "b": ""}),
}


@pytest.mark.parametrize(("drivers", "version", "expected"), DEMANDS.values(), ids=DEMANDS)
def test_nodes_without_a_driver(drivers: list[Object], version: str, expected: dict[str, str]) -> None:
    bound = [claim("c", bound=True, volume="v"), volume("v", driver=DRIVER)]
    bench = Bench(NODES, others=[*drivers, *bound, csi_node("a", DRIVER), csi_node("b", "other")], version=version)
    assert bench.reasons(NodeVolumeLimits, using("c")) == expected


def test_no_node_tells_of_any_driver() -> None:
    bound = [driver(preventPodSchedulingIfMissing=True), claim("c", bound=True, volume="v"), volume("v", driver=DRIVER)]
    assert Bench(NODES, others=bound).reasons(NodeVolumeLimits, using("c")) == {"a": GONE, "b": GONE}
