"""What a Pod's containers print, over their restarts: `kubectl logs -f` ends with the run that it follows.

Each container is followed by itself; when it has ended and may start again, that is waited for. It ends with the Pod,
or once nothing more can come.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable, Sequence
from typing import TextIO

from engine.api.errors import ApiError
from engine.api.types import PODS, Object
from engine.client import Client
from engine.clock import Clock

LOOK_SECONDS = 1.0
OVER = ("Succeeded", "Failed")
Run = Callable[[tuple[str, ...], TextIO, TextIO], Awaitable[int]]


class _WholeLines(io.StringIO):
    """Hands on line by line, for several write to one pane."""

    def __init__(self, to: TextIO) -> None:
        super().__init__()
        self._to = to
        self._rest = ""

    def write(self, text: str, /) -> int:
        whole, newline, self._rest = (self._rest + text).rpartition("\n")
        if newline:
            self._to.write(whole + newline)
        return len(text)


class FollowedLogs:
    """A command for a pane: the logs of these containers of a Pod."""

    def __init__(self, run: Run, client: Client, clock: Clock, pod: Object, containers: Sequence[str]) -> None:
        self._run = run
        self._client = client
        self._clock = clock
        self._name: str = pod["metadata"]["name"]
        self._namespace: str = pod["metadata"]["namespace"]
        self._uid = pod["metadata"].get("uid")
        self._containers = containers

    async def __call__(self, stdout: TextIO, stderr: TextIO) -> int:
        codes = await asyncio.gather(*(self._follow(name, stdout, stderr) for name in self._containers))
        return min(codes, default=0)

    async def _follow(self, container: str, stdout: TextIO, stderr: TextIO) -> int:
        argv = ("logs", self._name, "-c", container, "-f", "-n", self._namespace)
        while True:
            known = _run_of(await self._pod(), container)
            code = await self._run(argv, _WholeLines(stdout), _WholeLines(stderr))
            again = await self._started_again(container, known)
            if again is None:
                return code
            stdout.write(f"── {container} started again: restart {again} ──\n")

    async def _started_again(self, container: str, known: str) -> int | None:
        """How often it has by then; None where it never will."""
        while (pod := await self._pod()) is not None and not _is_over(pod, container):
            if _run_of(pod, container) not in ("", known):
                return int(_status(pod, container).get("restartCount", 0))
            await self._clock.sleep(LOOK_SECONDS)
        return None

    async def _pod(self) -> Object | None:
        """None once it has gone; another of its name is another."""
        while True:
            try:
                pod = await self._client.get(PODS, self._name, namespace=self._namespace)
            except ApiError:
                return None
            except ConnectionError:
                await self._clock.sleep(LOOK_SECONDS)
            else:
                return pod if pod["metadata"].get("uid") == self._uid else None


def _status(pod: Object, container: str) -> Object:
    status = pod.get("status") or {}
    fields = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
    every = (found for field in fields for found in status.get(field) or ())
    return next((found for found in every if found["name"] == container), {})


def _run_of(pod: Object | None, container: str) -> str:
    """Which of its runs it is in; "" before the first."""
    return str(_status(pod, container).get("containerID", "")) if pod is not None else ""


def _is_over(pod: Object, container: str) -> bool:
    """Whether it has ended for good."""
    if (pod.get("status") or {}).get("phase") in OVER:
        return True
    ended = (_status(pod, container).get("state") or {}).get("terminated")
    if not ended:
        return False
    policy = pod["spec"].get("restartPolicy", "Always")
    is_of_app = any(found["name"] == container for found in pod["spec"]["containers"])
    return policy == "Never" or (not ended.get("exitCode") and (policy == "OnFailure" or not is_of_app))
