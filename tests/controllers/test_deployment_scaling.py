"""What sizes the ReplicaSets of a Deployment get (after rolling_test.go and sync_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.controllers.deployment import scaling
from engine.controllers.deployment.limits import max_surge, max_unavailable
from engine.controllers.deployment.replica_sets import (
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    REVISION,
    REVISION_HISTORY,
    ReplicaSets,
    new_annotations,
    split,
)
from tests.controllers.objects import deployment, replica_set


def sizes(plan: list[scaling.Scale]) -> list[tuple[str, int]]:
    return [(step.replica_set["metadata"]["name"], step.size) for step in plan]


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "expected"),
    [
        pytest.param(2, "0%", "1%", (0, 1), id="never both zero"),
        pytest.param(1, "0%", "1%", (0, 1), id="one replica, never both zero"),
        pytest.param(2, "1%", "25%", (1, 0), id="surge rounds up, unavailable down"),
        pytest.param(10, "25%", "25%", (3, 2), id="the defaults"),
        pytest.param(10, 5, 3, (5, 3), id="absolute numbers"),
        pytest.param(2, 0, 5, (0, 2), id="no more can be unavailable than there are"),
        pytest.param(0, "25%", "25%", (0, 0), id="nothing to roll"),
    ],
)
def test_surge_and_unavailable(replicas: int, surge: Any, unavailable: Any, expected: tuple[int, int]) -> None:
    target = deployment(replicas, max_surge=surge, max_unavailable=unavailable)
    assert (max_surge(target), max_unavailable(target)) == expected


@pytest.mark.parametrize(
    ("surge", "old", "new", "expected"),
    [
        pytest.param(0, 10, 0, [], id="no surge, no room"),
        pytest.param(2, 10, 0, [("new", 2)], id="the surge is the room"),
        pytest.param(2, 5, 0, [("new", 7)], id="what old ones gave up is room too"),
        pytest.param(2, 10, 2, [], id="the room is used up"),
        pytest.param(2, 0, 11, [("new", 10)], id="too large shrinks"),
        pytest.param(2, 3, 9, [], id="full already"),
        pytest.param(0, 0, 10, [], id="done"),
    ],
)
def test_the_new_replica_set_grows_into_the_room(
    surge: int, old: int, new: int, expected: list[tuple[str, int]]
) -> None:
    sets = ReplicaSets(replica_set("new", new), [replica_set("old", old)])
    assert sizes(scaling.plan_new(deployment(10, max_surge=surge), sets)) == expected


@pytest.mark.parametrize(
    ("unavailable", "old", "new", "expected"),
    [
        pytest.param(0, (10, 10), (0, 0), [], id="all old ones are needed"),
        pytest.param(2, (10, 10), (0, 0), [("old", 8)], id="as many as may be unavailable"),
        pytest.param(2, (10, 8), (0, 0), [("old", 8)], id="unhealthy ones go, healthy ones stay"),
        pytest.param(2, (10, 9), (0, 0), [("old", 9), ("old", 8)], id="an unhealthy one first, then a healthy one"),
        pytest.param(2, (8, 8), (2, 0), [], id="new ones that are not available take up the allowance"),
        pytest.param(2, (8, 8), (4, 2), [("old", 6)], id="new ones that are available free old ones"),
        pytest.param(0, (10, 8), (3, 3), [("old", 8), ("old", 7)], id="surge frees both kinds"),
    ],
)
def test_old_replica_sets_shrink_without_hurting_availability(
    unavailable: int, old: tuple[int, int], new: tuple[int, int], expected: list[tuple[str, int]]
) -> None:
    sets = ReplicaSets(
        replica_set("new", new[0], available=new[1], created=1), [replica_set("old", old[0], available=old[1])]
    )
    target = deployment(10, max_surge=4, max_unavailable=unavailable)
    assert sizes(scaling.plan_old(target, sets)) == expected


def test_the_oldest_replica_set_shrinks_first() -> None:
    old = [replica_set("older", 5, created=1), replica_set("old", 5, created=2)]
    sets = ReplicaSets(replica_set("new", 2, created=3), old)
    target = deployment(10, max_surge=2, max_unavailable=5)
    assert sizes(scaling.plan_old(target, sets)) == [("older", 0), ("old", 3)]


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        ([("older", 5, 8)], []),
        ([("older", 5, 5)], [("older", 3)]),
        ([("older", 3, 2), ("old", 2, 6)], [("older", 2)]),
        ([("older", 3, 1), ("old", 2, 6)], [("older", 1), ("older", 0), ("old", 0)]),
    ],
)
def test_nothing_more_goes_while_a_status_is_of_before_a_set_was_scaled_down(
    old: list[tuple[str, int, int]], expected: list[tuple[str, int]]
) -> None:
    """As upstream's cleanupUnhealthyReplicas gives up then; it looks no further than at what it may take. What was
    scaled down from 14 of which 8 are available to 5 went to 0, with nothing new available."""
    sets = ReplicaSets(
        replica_set("new", 3, available=0, created=9),
        [replica_set(name, size, available=available, created=n) for n, (name, size, available) in enumerate(old)],
    )
    assert sizes(scaling.plan_old(deployment(5, max_surge=3, max_unavailable=2), sets)) == expected


def scaled(before: int, surge: int = 0) -> dict[str, str]:
    return {DESIRED_REPLICAS: str(before), MAX_REPLICAS: str(before + surge)}


@pytest.mark.parametrize(
    ("replicas", "surge", "new", "old", "expected"),
    [
        pytest.param(12, 0, ("new", 10, 10), [], [("new", 12)], id="scale up, one set"),
        pytest.param(5, 0, ("new", 10, 10), [], [("new", 5)], id="scale down, one set"),
        pytest.param(12, 0, ("new", 5, 10), [("old", 5, 10)], [("new", 6), ("old", 6)], id="up in proportion"),
        pytest.param(6, 0, ("new", 5, 10), [("old", 5, 10)], [("old", 3), ("new", 3)], id="down in proportion"),
        pytest.param(
            50,
            0,
            ("new", 5, 10),
            [("old-1", 3, 10), ("old-2", 2, 10)],
            [("new", 25), ("old-1", 15), ("old-2", 10)],
            id="up five times",
        ),
        pytest.param(
            12,
            0,
            ("new", 5, 10),
            [("old-1", 3, 10), ("old-2", 2, 10)],
            [("new", 6), ("old-1", 4), ("old-2", 2)],
            id="what rounding leaves goes to the largest",
        ),
        pytest.param(
            0,
            0,
            ("new", 3, 10),
            [("old-1", 3, 10), ("old-2", 4, 10)],
            [("old-2", 0), ("old-1", 0), ("new", 0)],
            id="down to nothing",
        ),
        pytest.param(15, 3, ("new", 8, 10), [("old", 5, 10)], [("new", 11), ("old", 7)], id="the surge has its share"),
    ],
)
def test_a_change_of_size_is_shared_in_proportion(
    replicas: int,
    surge: int,
    new: tuple[str, int, int],
    old: list[tuple[str, int, int]],
    expected: list[tuple[str, int]],
) -> None:
    def make(each: tuple[str, int, int], created: int) -> Any:
        name, size, before = each
        return replica_set(name, size, created=created, annotations=scaled(before, surge))

    sets = ReplicaSets(make(new, 9), [make(each, number) for number, each in enumerate(old)])
    target = deployment(replicas, max_surge=surge, max_unavailable=1)
    assert scaling.is_scaling_event(target, sets)
    assert sorted(sizes(scaling.plan_scale(target, sets))) == sorted(expected)


def test_what_was_never_annotated_has_no_share() -> None:
    sets = ReplicaSets(replica_set("new", 10, created=2), [replica_set("old", 5, created=1)])
    target = deployment(2, max_surge=1, max_unavailable=1)
    assert sorted(sizes(scaling.plan_scale(target, sets))) == [("new", 0), ("old", 5)]


def test_without_an_active_replica_set_the_newest_is_scaled() -> None:
    sets = ReplicaSets(None, [replica_set("older", 0, created=1), replica_set("old", 0, created=2)])
    assert sizes(scaling.plan_scale(deployment(3), sets)) == [("old", 3)]


def test_a_saturated_new_replica_set_ends_the_old_ones() -> None:
    new = replica_set("new", 3, created=2, annotations=scaled(3))
    sets = ReplicaSets(new, [replica_set("old", 2, created=1)])
    assert sizes(scaling.plan_scale(deployment(3), sets)) == [("old", 0)]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        pytest.param(0, ["rev-1", "rev-2"], id="keep none"),
        pytest.param(1, ["rev-1"], id="keep the newest revision"),
        pytest.param(2, [], id="within the limit"),
        pytest.param(None, [], id="no limit"),
    ],
)
def test_old_revisions_beyond_the_limit_are_cleaned_up(limit: int | None, expected: list[str]) -> None:
    old = [replica_set(f"rev-{n}", 0, created=9 - n, annotations={REVISION: str(n)}) for n in (2, 1)]
    sets = ReplicaSets(replica_set("new", 3), old)
    plan = scaling.plan_cleanup(deployment(3, revisionHistoryLimit=limit), sets)
    assert [rs["metadata"]["name"] for rs in plan] == expected


def test_a_replica_set_that_still_has_pods_is_never_cleaned_up() -> None:
    busy = replica_set("busy", 0, replicas=1)
    unseen = replica_set("unseen", 0)
    unseen["metadata"]["generation"] = 2
    sets = ReplicaSets(replica_set("new", 3), [busy, unseen])
    assert scaling.plan_cleanup(deployment(3, revisionHistoryLimit=0), sets) == []


def test_the_new_replica_set_is_the_oldest_with_the_deployments_template() -> None:
    first, second = replica_set("first", 1, created=1), replica_set("second", 1, created=2)
    other = replica_set("other", 1, created=0, image="nginx:1.26")
    sets = split(deployment(), [second, other, first])
    assert sets.new is first
    assert sets.old == [other, second]


def test_rolling_back_keeps_the_revisions_that_a_replica_set_had() -> None:
    rs = replica_set("web", 0, annotations={REVISION: "1", REVISION_HISTORY: ""})
    target = deployment(
        3, annotations={"note": "why", REVISION: "4", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
    )
    found = new_annotations(target, rs, new_revision=5, exists=True, surge=1)
    assert found == {"note": "why", REVISION: "5", REVISION_HISTORY: "1"}
    rs["metadata"]["annotations"] = found
    found = new_annotations(target, rs, new_revision=7, exists=True, surge=1)
    assert found[REVISION_HISTORY] == "1,5"


def test_a_created_replica_set_notes_the_size_it_was_made_for() -> None:
    found = new_annotations(deployment(4), replica_set("web", 0), new_revision=1, exists=False, surge=1)
    assert found == {REVISION: "1", DESIRED_REPLICAS: "4", MAX_REPLICAS: "5"}
