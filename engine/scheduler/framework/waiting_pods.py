"""Pods that a Permit plugin has told to wait (upstream's framework/runtime/waiting_pods_map.go)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from functools import partial

from engine.clock import Clock, Timer
from engine.scheduler.framework.status import SUCCESS, Status, error, unschedulable
from engine.scheduler.pod_info import PodInfo

MAX_TIMEOUT = 15 * 60.0


class WaitingPod:
    """Waits until every plugin that said Wait has allowed it, one has rejected it, or a time is over."""

    def __init__(self, pod: PodInfo, node_name: str, *, timeouts: Mapping[str, float], clock: Clock) -> None:
        self.pod = pod
        self.node_name = node_name
        self._verdict: asyncio.Future[Status] = asyncio.get_running_loop().create_future()
        self._timers: dict[str, Timer] = {
            plugin: clock.call_later(min(timeout, MAX_TIMEOUT), partial(self._expire, plugin))
            for plugin, timeout in timeouts.items()
        }

    @property
    def pending_plugins(self) -> list[str]:
        return list(self._timers)

    def allow(self, plugin: str) -> None:
        if (timer := self._timers.pop(plugin, None)) is not None:
            timer.cancel()
        if not self._timers:
            self._settle(SUCCESS)

    def reject(self, plugin: str, message: str) -> None:
        self._settle(unschedulable(message).by(plugin))

    def preempt(self, plugin: str) -> bool:
        """Give its place to another: nothing is wrong with the pod, so it is tried again after its back-off. False if
        it no longer waits."""
        settled = self._verdict.done()
        self._settle(error("preempted").by(plugin))
        return not settled

    def _expire(self, plugin: str) -> None:
        self.reject(plugin, f'rejected due to timeout after waiting for plugin "{plugin}"')

    def _settle(self, status: Status) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        if not self._verdict.done():
            self._verdict.set_result(status)

    async def wait(self) -> Status:
        return await self._verdict


class WaitingPods:
    def __init__(self) -> None:
        self._pods: dict[str, WaitingPod] = {}

    def add(self, waiting: WaitingPod) -> None:
        self._pods[waiting.pod.uid] = waiting

    def get(self, uid: str) -> WaitingPod | None:
        return self._pods.get(uid)

    def remove(self, uid: str) -> None:
        self._pods.pop(uid, None)

    def __iter__(self) -> Iterator[WaitingPod]:
        return iter(list(self._pods.values()))
