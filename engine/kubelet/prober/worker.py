"""Probes one container in one way, on its period (pkg/kubelet/prober worker.go).

Upstream's worker ticks as long as its Pod is there and asks each time whether the container runs; this one is told, and
has a timer only while there is a running container to probe.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from engine.api.types import Object
from engine.clock import Clock, Timer
from engine.kubelet.cri import Runtime
from engine.kubelet.prober import prober
from engine.kubelet.prober.results import Outcome, ProbeType, Result


class ProbeWorker:
    """`report` is called with each outcome, and whether it made the result change; `may_probe` says whether it is time:
    liveness and readiness wait for the startup probe, which ends with its success."""

    def __init__(
        self,
        pod: Object,
        container: Object,
        kind: ProbeType,
        *,
        runtime: Runtime,
        clock: Clock,
        spawn: Callable[[Coroutine[Any, Any, None], str], object],
        may_probe: Callable[[ProbeWorker], bool],
        report: Callable[[ProbeWorker, Outcome, bool], None],
    ) -> None:
        self.pod = pod
        self.container = container
        self.kind = kind
        self.container_id = ""
        self.result = kind.initial
        self.probes = 0
        self.successes = 0
        self.failures = 0
        self._runtime = runtime
        self._clock = clock
        self._spawn = spawn
        self._may_probe = may_probe
        self._report = report
        self._run_of: Result = Result.UNKNOWN
        self._run = 0
        self._timer: Timer | None = None
        self._pod_ip = ""
        self._busy = False
        self._on_hold = False

    @property
    def spec(self) -> Object:
        spec: Object = self.container[self.kind.field]
        return spec

    @property
    def next_due(self) -> float | None:
        """Model seconds until the next probe; None for none."""
        if self._timer is None or self._timer.callback is None:
            return None
        return max(0.0, self._timer.due - self._clock.monotonic())

    # -- told by the manager

    def container_runs(self, container_id: str, *, started_since: float, pod_ip: str) -> None:
        """A container runs since so many seconds: probe it from its initial delay on."""
        self._pod_ip = pod_ip
        if container_id == self.container_id:
            return
        self.stop()
        self.container_id = container_id
        self.result = self.kind.initial
        self._run = 0
        self._on_hold = False
        delay = float(self.spec.get("initialDelaySeconds") or 0) - started_since
        self._arm(max(0.0, delay))

    def container_stopped(self) -> None:
        self.stop()
        if self.container_id and self.kind != ProbeType.STARTUP:
            self.result = Result.FAILURE if self.kind == ProbeType.READINESS else self.kind.initial
        self.container_id = ""

    def resume(self) -> None:
        """Probe now: what it waited for has happened (the startup probe succeeded)."""
        if self.container_id and not self._on_hold and self.next_due is not None:
            elapsed_delay = self.probes or not self.spec.get("initialDelaySeconds")
            if elapsed_delay:
                self._arm(0.0)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # -- probing

    def _arm(self, seconds: float) -> None:
        self.stop()
        self._timer = self._clock.call_later(seconds, self._tick)

    def _tick(self) -> None:
        self._arm(float(self.spec.get("periodSeconds") or 10))
        if self._busy or not self._may_probe(self):
            return
        if prober.told_to_fail(self.pod, self.container, self.kind):
            self._take(prober.forced_failure(self.spec))
        elif self.spec.get("exec"):
            self._busy = True
            self._spawn(self._exec(self.container_id), f"{self.kind} {self.container['name']}")
        else:
            self._take(
                prober.run_network(self._runtime, self.container, self.container_id, self.spec, pod_ip=self._pod_ip)
            )

    async def _exec(self, container_id: str) -> None:
        try:
            outcome = await prober.run_exec(self._runtime, container_id, self.spec)
        finally:
            self._busy = False
        if container_id == self.container_id:
            self._take(outcome)

    def _take(self, outcome: Outcome) -> None:
        """Count an outcome; the result changes when as many in a row agree as the threshold says."""
        self.probes += 1
        if outcome.errored:
            self._report(self, outcome, False)
            return
        self._run = self._run + 1 if outcome.result == self._run_of else 1
        self._run_of = outcome.result
        failing = outcome.result == Result.FAILURE
        if failing:
            self.failures += 1
        else:
            self.successes += 1
        name, default = ("failureThreshold", 3) if failing else ("successThreshold", 1)
        reached = self._run >= int(self.spec.get(name) or default)
        changed = reached and outcome.result != self.result
        if reached:
            self.result = outcome.result
        if reached and failing and self.kind != ProbeType.READINESS:
            # To be restarted: no more probes until there is a new container.
            self._on_hold = True
            self._run = 0
            self.stop()
        self._report(self, outcome, changed)
