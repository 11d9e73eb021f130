"""Calling off a binding that is being prepared (upstream's framework/runtime/pods_in_prebind_map_test.go)."""

from __future__ import annotations

import asyncio

import pytest

from engine.scheduler.framework.pods_in_pre_bind import PodsInPreBind
from engine.scheduler.framework.status import SUCCESS, Status, error
from engine.tasks import Supervisor

CANCELLED = error("context canceled")


class Binding:
    """A plugin's work for the pod `p`, and what has come of it."""

    def __init__(self, *, stubborn: bool = False) -> None:
        self.pods = PodsInPreBind()
        self.go = asyncio.Event()
        self.stubborn = stubborn
        self.left = ""

    async def _work(self) -> Status:
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            if not self.stubborn:
                raise
        return SUCCESS

    async def run(self) -> Status:
        with self.pods.entered("p") as entered:
            status = await entered.run(self._work(), "context canceled")
            self.left = entered.cancelled
            return status


async def test_a_binding_is_called_off_as_often_as_anybody_likes() -> None:
    tasks, binding = Supervisor("test"), Binding()
    task = tasks.spawn(binding.run(), "bind")
    assert not binding.pods.cancel("p", "too early")
    await asyncio.sleep(0)
    assert [binding.pods.cancel("p", why) for why in ("first", "second")] == [True, True]
    assert (await task, binding.left) == (CANCELLED, "first")
    assert not binding.pods.cancel("p", "too late")


async def test_a_plugin_that_goes_on_all_the_same_is_known_to_be_called_off() -> None:
    tasks, binding = Supervisor("test"), Binding(stubborn=True)
    task = tasks.spawn(binding.run(), "bind")
    await asyncio.sleep(0)
    assert binding.pods.cancel("p", "first")
    assert (await task, binding.left, task.cancelling()) == (SUCCESS, "first", 0)


async def test_one_that_is_done_is_not() -> None:
    tasks, binding = Supervisor("test"), Binding()
    task = tasks.spawn(binding.run(), "bind")
    binding.go.set()
    assert (await task, binding.left) == (SUCCESS, "")


@pytest.mark.parametrize("called_off", [False, True])
async def test_a_scheduler_that_stops_is_not_taken_for_a_preemption(called_off: bool) -> None:
    tasks, binding = Supervisor("test"), Binding()
    task = tasks.spawn(binding.run(), "bind")
    await asyncio.sleep(0)
    if called_off:
        binding.pods.cancel("p", "first")
    await tasks.close()
    assert task.cancelled()
