"""The cache with assumed pods, and the snapshot that follows it (upstream's backend/cache/cache_test.go)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.rng import Rng
from engine.scheduler.cache.cache import Cache
from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo
from tests.scheduler.objects import container, node, pod


def info(name: str, where: str, **fields: Any) -> PodInfo:
    return PodInfo(pod(name, node_name=where, **fields))


@pytest.fixture
def cache() -> Cache:
    made = Cache()
    made.add_node(node("n1"))
    made.add_node(node("n2"))
    return made


def cpu(cache: Cache, name: str) -> int:
    return cache.nodes[name].requested.milli_cpu


def test_an_assumed_pod_counts_until_it_is_forgotten(cache: Cache) -> None:
    cache.assume(info("p", "n1", cpu="1"))
    assert (cpu(cache, "n1"), cache.is_assumed("default/p")) == (1000, True)
    assert cache.forget("default/p")
    assert (cpu(cache, "n1"), cache.is_assumed("default/p")) == (0, False)
    assert not cache.forget("default/p")


def test_a_pod_is_assumed_once(cache: Cache) -> None:
    cache.assume(info("p", "n1"))
    with pytest.raises(ValueError, match="is in the cache, so can't be assumed"):
        cache.assume(info("p", "n2"))


def test_the_watch_confirms_an_assumed_pod(cache: Cache) -> None:
    cache.assume(info("p", "n1", cpu="1"))
    cache.add_pod(info("p", "n1", cpu="1"))
    assert (cpu(cache, "n1"), cache.is_assumed("default/p")) == (1000, False)
    assert not cache.forget("default/p")


def test_the_watch_is_right_where_it_shows_another_node(cache: Cache) -> None:
    cache.assume(info("p", "n1", cpu="1"))
    cache.add_pod(info("p", "n2", cpu="1"))
    assert (cpu(cache, "n1"), cpu(cache, "n2")) == (0, 1000)


def test_an_update_replaces_what_was_counted(cache: Cache) -> None:
    cache.add_pod(info("p", "n1", cpu="2"))
    cache.update_pod(info("p", "n1", cpu="1"))
    assert cpu(cache, "n1") == 1000
    cache.remove_pod("default/p")
    assert cpu(cache, "n1") == 0


def test_pods_of_a_node_that_is_gone_or_not_there_yet_are_kept(cache: Cache) -> None:
    cache.add_pod(info("early", "n3", cpu="1"))
    cache.add_node(node("n3"))
    assert cpu(cache, "n3") == 1000
    cache.remove_node("n3")
    snapshot = Snapshot()
    snapshot.update(cache)
    assert snapshot.names == ["n1", "n2"]
    cache.add_node(node("n3"))
    assert cpu(cache, "n3") == 1000


def test_a_snapshot_does_not_move_with_the_cache(cache: Cache) -> None:
    snapshot = Snapshot()
    snapshot.update(cache)
    cache.assume(info("p", "n1", cpu="1", labels={"app": "x"}))
    assert snapshot.nodes[0].requested.milli_cpu == 0
    assert int(snapshot.columns.requested_cpu[0]) == 0
    snapshot.update(cache)
    assert snapshot.nodes[0].requested.milli_cpu == 1000
    assert int(snapshot.columns.requested_cpu[0]) == 1000


def test_kept_sums_follow_single_changes(cache: Cache) -> None:
    snapshot = Snapshot()
    snapshot.update(cache)

    def count() -> list[int]:
        counted = snapshot.pod_groups.sum("web", lambda group: ("app", "web") in group.labels)
        return [int(value) for value in counted]

    assert count() == [0, 0]
    for i, where in enumerate(["n1", "n1", "n2"]):
        cache.add_pod(info(f"p{i}", where, labels={"app": "web", "n": str(i)}))
    snapshot.update(cache)
    assert count() == [2, 1]
    cache.remove_pod("default/p0")
    snapshot.update(cache)
    assert count() == [1, 1]


def test_static_tables_are_made_anew_when_labels_change(cache: Cache) -> None:
    snapshot = Snapshot()

    def disk(info: NodeInfo) -> int:
        return int(info.labels.get("disk") == "ssd")

    snapshot.update(cache)
    assert snapshot.static("disk", disk).tolist() == [0, 0]
    cache.add_node(node("n2", labels={"disk": "ssd"}))
    snapshot.update(cache)
    assert snapshot.static("disk", disk).tolist() == [0, 1]


def test_heartbeats_leave_static_tables_alone(cache: Cache) -> None:
    snapshot = Snapshot()
    snapshot.update(cache)
    table = snapshot.static("any", lambda info: 1)
    beaten = node("n1")
    beaten["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastHeartbeatTime": "now"}]
    cache.add_node(beaten)
    snapshot.update(cache)
    assert snapshot.static("any", lambda info: 2) is table


def test_images_are_counted_over_nodes(cache: Cache) -> None:
    image = {"names": ["nginx:1.27"], "sizeBytes": 100}
    cache.add_node(node("n1", images=[image]))
    cache.add_node(node("n2", images=[image]))
    assert list(cache.images["nginx:1.27"].nodes) == ["n1", "n2"]
    cache.add_node(node("n1"))
    assert list(cache.images["nginx:1.27"].nodes) == ["n2"]
    cache.remove_node("n2")
    assert cache.images == {}


def test_an_image_is_as_big_as_the_first_node_says_that_has_it(cache: Cache) -> None:
    small, big = ({"names": ["nginx:1.27"], "sizeBytes": size} for size in (100, 200))
    cache.add_node(node("n1", images=[small]))
    cache.add_node(node("n2", images=[big]))
    assert cache.images["nginx:1.27"].size == 100
    cache.add_node(node("n1", images=[big]))
    assert cache.images["nginx:1.27"].size == 100
    cache.remove_node("n2")
    cache.add_node(node("n1", images=[small]))
    cache.add_node(node("n1", images=[big]))
    assert cache.images["nginx:1.27"].size == 200


def test_columns_agree_with_nodes_after_many_changes(cache: Cache) -> None:
    snapshot, rng = Snapshot(), np.random.default_rng(1)
    present: list[str] = []
    for step in range(200):
        if present and rng.random() < 0.4:
            cache.remove_pod(present.pop(int(rng.integers(len(present)))))
        else:
            made = info(f"p{step}", f"n{rng.integers(1, 3)}", cpu=f"{rng.integers(1, 900)}m", labels={"a": "b"})
            cache.add_pod(made)
            present.append(made.uid)
        snapshot.update(cache)
    for row, kept in enumerate(snapshot.nodes):
        assert int(snapshot.columns.requested_cpu[row]) == sum(p.request.milli_cpu for p in kept.pods.values())
        assert int(snapshot.columns.pods[row]) == len(kept.pods)
    total = snapshot.pod_groups.sum("all", lambda group: True)
    assert total.tolist() == [len(kept.pods) for kept in snapshot.nodes]


@pytest.mark.parametrize("seed", range(4))
def test_a_snapshot_that_follows_is_as_one_made_anew(seed: int) -> None:
    """Nodes come, go and change, pods come and go: what is kept of the others must have moved with them."""
    rng, cache, following = Rng(seed), Cache(), Snapshot()

    def count(snapshot: Snapshot) -> list[Any]:
        blue = snapshot.pod_groups.sum("blue", lambda group: ("color", "blue") in group.labels)
        zoned = snapshot.static("zoned", lambda info: int("zone" in info.labels))
        ids, values = snapshot.domains("zone")
        zones = [values[i] if i >= 0 else "" for i in ids.tolist()]
        columns = snapshot.columns
        figures = (columns.requested_cpu, columns.pods, columns.allocatable_cpu, columns.requested("x.io/gpu"))
        return [snapshot.names, blue.tolist(), zoned.tolist(), zones, [f.tolist() for f in figures]]

    for step in range(60):
        name = f"n{rng.randrange(8)}"
        match rng.randrange(5):
            case 0:
                cache.remove_node(name)
            case 1 | 2:
                labels = {"zone": f"z{rng.randrange(3)}"} if rng.randrange(3) else {}
                region = {"topology.kubernetes.io/zone": f"z{rng.randrange(2)}"}
                cache.add_node(node(name, cpu=str(1 + rng.randrange(4)), labels={**labels, **region}))
            case 3:
                color = {"color": "blue" if rng.randrange(2) else "red"}
                wants = [container(requests={"cpu": "1", "x.io/gpu": str(rng.randrange(3))})]
                cache.add_pod(PodInfo(pod(f"p{step}", node_name=name, labels=color, containers=wants)))
            case _:
                cache.remove_pod(f"default/p{rng.randrange(step + 1)}")
        if rng.randrange(2):
            following.update(cache)
            known = {info.name: info for info in cache.nodes.values()}
            made_anew = Snapshot()
            again = Cache()
            for node_name in following.names:
                again.add_node(known[node_name].node or {})
            for info in known.values():
                for there in info.pods.values():
                    again.add_pod(there)
            again.tree = cache.tree  # the order in which nodes came is the tree's to know
            made_anew.update(again)
            assert count(following) == count(made_anew)
