"""How long extension points and plugins take: for the figures of /metrics, and for the record of an attempt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from engine.clock import wall
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.plugin import Plugin
from engine.scheduler.framework.status import Code, Status
from engine.scheduler.metrics import SchedulerMetrics

P = ParamSpec("P")
R = TypeVar("R")


class Durations:
    """Wall seconds that each plugin took, by extension point."""

    def __init__(self) -> None:
        self.taken: dict[tuple[str, str], float] = {}

    def add(self, point: str, plugin: str, began: float) -> None:
        key = (point, plugin)
        self.taken[key] = self.taken.get(key, 0.0) + wall() - began


class Measuring:
    """What one profile's plugins take. Single plugins are measured in some attempts alone, extension points in all."""

    def __init__(self, metrics: SchedulerMetrics, profile: str) -> None:
        self._metrics = metrics
        self._profile = profile

    def point(self, point: str, began: float, code: Code = Code.SUCCESS) -> None:
        self._metrics.point_duration.observe(wall() - began, point, code.label, self._profile)

    def plugin(
        self,
        state: CycleState,
        point: str,
        plugin: Plugin,
        *,
        began: float,
        code: Code = Code.SUCCESS,
        evaluated: int = 0,
    ) -> None:
        """A plugin has had its say; `evaluated` is of how many nodes, or 1, at the points where that is counted."""
        if evaluated:
            self._metrics.evaluations.add(plugin.name, point, self._profile, by=evaluated)
        if state.plugins_measured:
            self._metrics.plugin_duration.observe(wall() - began, plugin.name, point, code.label)


class Measured(Protocol):
    @property
    def measuring(self) -> Measuring: ...


M = TypeVar("M", bound=Measured)


def measured(point: str) -> Callable[[Callable[Concatenate[M, P], R]], Callable[Concatenate[M, P], R]]:
    """Measures a method that runs the plugins of an extension point, by the code of the status that it gives."""

    def around(run: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
        @wraps(run)
        def timed(self: M, /, *args: P.args, **kwargs: P.kwargs) -> R:
            began, code = wall(), Code.ERROR
            try:
                result = run(self, *args, **kwargs)
                code = _code_of(result)
                return result
            finally:
                self.measuring.point(point, began, code)

        return timed

    return around


def measured_task(
    point: str,
) -> Callable[[Callable[Concatenate[M, P], Awaitable[R]]], Callable[Concatenate[M, P], Awaitable[R]]]:
    """`measured` for one that waits."""

    def around(run: Callable[Concatenate[M, P], Awaitable[R]]) -> Callable[Concatenate[M, P], Awaitable[R]]:
        @wraps(run)
        async def timed(self: M, /, *args: P.args, **kwargs: P.kwargs) -> R:
            began, code = wall(), Code.ERROR
            try:
                result = await run(self, *args, **kwargs)
                code = _code_of(result)
                return result
            finally:
                self.measuring.point(point, began, code)

        return timed

    return around


def _code_of(result: Any) -> Code:
    """Of a status, or of what has one; what has none went well."""
    if result is None:
        return Code.SUCCESS
    status = result if isinstance(result, Status) else getattr(result, "status", None)
    return status.code if isinstance(status, Status) else Code.SUCCESS
