"""Pods between Permit and Bind, whose binding can still be called off (framework/runtime/pods_in_prebind_map.go).

A pod that is preempted here need not be deleted: nothing has been started on its node yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from engine.scheduler.framework.status import Status, error

if TYPE_CHECKING:
    from engine.scheduler.framework.cycle_state import CycleState
    from engine.scheduler.framework.plugin import PreBindPlugin


class PodInPreBind:
    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None
        self.cancelled = ""  # the message of who has called the binding off
        self.at: tuple[PreBindPlugin, CycleState] | None = None  # the plugin that is at work, and on what

    @property
    def wait(self) -> str:
        """What the pod waits for, in words."""
        if self.at is None:
            return ""
        plugin, state = self.at
        detail = plugin.pre_bind_wait(state)
        return f"waits at PreBind for {plugin.name}" + (f": {detail}" if detail else "")

    def cancel(self, message: str) -> None:
        if not self.cancelled:
            self.cancelled = message
            if self._task is not None:
                self._task.cancel()

    async def run(self, work: Coroutine[Any, Any, Status], when_cancelled: str) -> Status:
        """What a plugin does here; an error with the text given if it is called off meanwhile."""
        self._task = asyncio.current_task()
        try:
            return await work
        except asyncio.CancelledError:
            # The scheduler itself may stop as well: that is for all to know.
            if not self.cancelled or (self._task is not None and self._task.cancelling() > 1):
                raise
            return error(when_cancelled)
        finally:
            if self.cancelled and self._task is not None:
                self._task.uncancel()
            self._task = None


class PodsInPreBind:
    def __init__(self) -> None:
        self._pods: dict[str, PodInPreBind] = {}

    @contextmanager
    def entered(self, uid: str) -> Iterator[PodInPreBind]:
        """What is done in the body can be called off, until it is left."""
        pod = self._pods[uid] = PodInPreBind()
        try:
            yield pod
        finally:
            del self._pods[uid]

    def wait_of(self, uid: str) -> str:
        """What a pod waits for here; "" for one that is not here."""
        pod = self._pods.get(uid)
        return pod.wait if pod is not None else ""

    def cancel(self, uid: str, message: str) -> bool:
        """Call the binding of a pod off; False if it is too late or too early for that."""
        pod = self._pods.get(uid)
        if pod is None:
            return False
        pod.cancel(message)
        return True
