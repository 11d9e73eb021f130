"""Back-offs double from 10 s to 5 min and are forgotten after 10 calm minutes."""

from __future__ import annotations

from engine.kubelet.kuberuntime.backoff import Backoff
from engine.world import World


async def test_it_doubles_up_to_five_minutes(world: World) -> None:
    backoff = Backoff(world.clock)
    seen = []
    for _ in range(7):
        backoff.next("a", world.clock.monotonic())
        seen.append(backoff.get("a"))
        await world.clock.sleep(backoff.remaining("a"))

    assert seen == [10, 20, 40, 80, 160, 300, 300]


async def test_it_counts_from_the_failure(world: World) -> None:
    backoff = Backoff(world.clock)
    assert backoff.remaining_since("a", 0.0) == 0
    backoff.next("a", 0.0)
    await world.clock.sleep(4)

    assert backoff.remaining_since("a", 0.0) == 6
    assert backoff.remaining_since("a", 3.0) == 9


async def test_a_container_that_ran_for_ten_minutes_starts_afresh(world: World) -> None:
    backoff = Backoff(world.clock)
    backoff.next("a", 0.0)
    backoff.next("a", 0.0)
    await world.clock.sleep(601)

    assert backoff.remaining_since("a", 601.0) == 0
    backoff.next("a", 601.0)
    assert backoff.get("a") == 10


async def test_a_pod_that_is_gone_is_forgotten(world: World) -> None:
    backoff = Backoff(world.clock)
    backoff.next("uid-1_c", 0.0)
    backoff.forget("uid-1")

    assert backoff.get("uid-1_c") == 0
