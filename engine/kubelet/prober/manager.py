"""The probe workers of a node and what their results mean (pkg/kubelet/prober prober_manager.go)."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from typing import NamedTuple

from engine.api.types import Object
from engine.client import WARNING, EventRecorder
from engine.kubelet import events, pods
from engine.kubelet.cri import Runtime
from engine.kubelet.prober.results import Outcome, ProbeType, Result
from engine.kubelet.prober.worker import ProbeWorker
from engine.tasks import Supervisor
from engine.trace import Hop, SpanContext
from engine.world import World


class ProbeUpdate(NamedTuple):
    """A result that changed: the fifth input of the SyncLoop."""

    pod_uid: str
    container: str
    kind: ProbeType
    result: Result
    cause: SpanContext | None


class ProbeManager:
    """`tell` hands on the results that change."""

    def __init__(
        self,
        runtime: Runtime,
        world: World,
        recorder: EventRecorder,
        tell: Callable[[ProbeUpdate], None],
        *,
        node_name: str,
    ) -> None:
        self._runtime = runtime
        self._world = world
        self._recorder = recorder
        self._tell = tell
        self._component = f"kubelet {node_name}"
        self._workers: dict[str, dict[tuple[str, ProbeType], ProbeWorker]] = {}  # by pod uid
        self._results: dict[tuple[str, str], Result] = {}  # by container id and kind
        self._causes: dict[str, SpanContext] = {}  # what started a container, by its id
        self._tasks = Supervisor(f"{self._component} prober")

    async def close(self) -> None:
        for uid in list(self._workers):
            self.remove_pod(uid)
        await self._tasks.close()

    # -- Pods

    def add_pod(self, pod: Object) -> None:
        """Have a worker for each probe of each container that is probed."""
        uid = pods.uid_of(pod)
        workers = self._workers.setdefault(uid, {})
        sidecars = [container for container in pods.init_containers_of(pod) if pods.is_sidecar(container)]
        for container in [*sidecars, *pods.containers_of(pod)]:
            for kind in ProbeType:
                key = (container["name"], kind)
                if not container.get(kind.field):
                    continue
                if key in workers:
                    workers[key].pod = pod
                else:
                    workers[key] = self._new_worker(pod, container, kind)

    def _new_worker(self, pod: Object, container: Object, kind: ProbeType) -> ProbeWorker:
        return ProbeWorker(
            pod,
            container,
            kind,
            runtime=self._runtime,
            clock=self._world.clock,
            spawn=lambda work, name: Context().run(self._tasks.spawn, work, name),
            may_probe=self._may_probe,
            report=self._reported,
        )

    def remove_pod(self, uid: str) -> None:
        for worker in self._workers.pop(uid, {}).values():
            self._forget(worker)

    def stop_liveness_and_startup(self, uid: str) -> None:
        """The Pod terminates: only its readiness is still of interest."""
        for (_, kind), worker in self._workers.get(uid, {}).items():
            if kind != ProbeType.READINESS:
                worker.stop()
                self._results.pop((worker.container_id, kind.value), None)

    def _forget(self, worker: ProbeWorker) -> None:
        worker.stop()
        self._results.pop((worker.container_id, worker.kind.value), None)
        self._causes.pop(worker.container_id, None)

    # -- what containers are

    def failed(self, kind: str, container_id: str) -> bool:
        return self._results.get((container_id, kind)) == Result.FAILURE

    def started(self, container: Object, container_id: str) -> bool:
        if not container.get("startupProbe"):
            return True
        return self._results.get((container_id, ProbeType.STARTUP.value)) == Result.SUCCESS

    def update_pod_status(self, pod: Object, status: Object) -> None:
        """Tell the workers what runs, and set `ready` and `started` in the container statuses."""
        uid = pods.uid_of(pod)
        workers = self._workers.get(uid, {})
        pod_ip = str(status.get("podIP", ""))
        for field in ("initContainerStatuses", "containerStatuses"):
            for item in status.get(field, ()):
                container = pods.find_container(pod, item["name"])
                if container is None:
                    continue
                regular_init = field == "initContainerStatuses" and not pods.is_sidecar(container)
                if regular_init:
                    ended = item["state"].get("terminated")
                    item["ready"] = ended is not None and ended["exitCode"] == 0
                    item["started"] = "running" in item["state"]
                else:
                    self._update(pod, container, item, workers, pod_ip)

    def _update(
        self,
        pod: Object,
        container: Object,
        item: Object,
        workers: dict[tuple[str, ProbeType], ProbeWorker],
        pod_ip: str,
    ) -> None:
        running = item["state"].get("running")
        name, container_id = container["name"], item.get("containerID", "").rpartition("/")[2]
        mine = [workers[name, kind] for kind in ProbeType if (name, kind) in workers]
        if running is None:
            for worker in mine:
                self._results.pop((worker.container_id, worker.kind.value), None)
                worker.container_stopped()
            return
        # The API's times are whole seconds: one that has just started has run for no time.
        since = (self._world.clock.now() - pods.parse_time(running["startedAt"])).total_seconds()
        since = since if since >= 1 else 0.0
        for worker in mine:
            if worker.container_id != container_id and not pods.is_deleted(pod):
                self._results[container_id, worker.kind.value] = worker.kind.initial
                worker.container_runs(container_id, started_since=since, pod_ip=pod_ip)
        item["started"] = self.started(container, container_id)
        readiness = workers.get((name, ProbeType.READINESS))
        item["ready"] = item["started"] and (readiness is None or readiness.result == Result.SUCCESS)

    # -- probes

    def _may_probe(self, worker: ProbeWorker) -> bool:
        started = self.started(worker.container, worker.container_id)
        return started != (worker.kind == ProbeType.STARTUP)

    def _reported(self, worker: ProbeWorker, outcome: Outcome, changed: bool) -> None:
        failed = outcome.result != Result.SUCCESS
        cause: SpanContext | None = None
        if changed or failed:
            # A probe that only confirms what is known is not worth a span.
            with self._world.tracer.span(
                Hop.KUBELET,
                component=self._component,
                verb="probe",
                object=pods.trace_object(worker.pod),
                cause=self._causes.get(worker.container_id),
                detail={
                    "container": worker.container["name"],
                    "probe": worker.kind.value,
                    "result": outcome.result.value,
                    "output": outcome.output,
                },
            ) as span:
                if failed:
                    span.outcome = outcome.result.value
                    self._unhealthy(worker, outcome)
                cause = span.context
        if not changed:
            return
        self._results[worker.container_id, worker.kind.value] = worker.result
        if worker.kind == ProbeType.STARTUP and worker.result == Result.SUCCESS:
            self._resume_others(worker)
        self._tell(ProbeUpdate(pods.uid_of(worker.pod), worker.container["name"], worker.kind, worker.result, cause))

    def _resume_others(self, started: ProbeWorker) -> None:
        """The container has started: its readiness is of interest at once. The startup probe has done its work."""
        started.stop()
        name = started.container["name"]
        for (container, kind), worker in self._workers.get(pods.uid_of(started.pod), {}).items():
            if container == name and kind == ProbeType.READINESS:
                worker.resume()

    def _unhealthy(self, worker: ProbeWorker, outcome: Outcome) -> None:
        ended = "errored and resulted in unknown state" if outcome.errored else "failed"
        self._recorder.event(
            worker.pod,
            WARNING,
            events.UNHEALTHY,
            f"{worker.kind.heading} probe {ended}: {outcome.output}",
            field_path=pods.field_path(worker.pod, worker.container["name"]),
        )

    def note_cause(self, container_id: str, cause: SpanContext | None) -> None:
        """What started a container: the parent of its probes' spans."""
        if cause is not None:
            self._causes[container_id] = cause

    # -- the view

    def workers(self) -> list[ProbeWorker]:
        return [worker for workers in self._workers.values() for worker in workers.values()]

    def view(self) -> list[Object]:
        return [
            {
                "pod": f"{pods.namespace_of(worker.pod)}/{pods.name_of(worker.pod)}",
                "container": worker.container["name"],
                "probe": worker.kind.value,
                "result": worker.result.value,
                "probes": worker.probes,
                "nextSeconds": None if worker.next_due is None else round(worker.next_due, 3),
                "periodSeconds": worker.spec.get("periodSeconds") or 10,
            }
            for worker in self.workers()
        ]
