"""kube-scheduler: takes waiting pods one by one and binds each to a node (hop 10)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from engine.api.types import GVR, PODS, Object
from engine.client import WARNING, Client, InformerFactory, Lister, SeriesRecorder, first_cause, woken_by
from engine.clock import wall
from engine.scheduler.cache.cache import Cache
from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.configuration import SchedulerConfiguration
from engine.scheduler.cycle.binding import BindingCycle
from engine.scheduler.cycle.failure import FailureHandler
from engine.scheduler.cycle.scheduling import Placement, SchedulingCycle
from engine.scheduler.decisions import Decision, Decisions
from engine.scheduler.event_handlers import EventHandlers, pod_informer
from engine.scheduler.extenders import Extender
from engine.scheduler.extenders.extender import EVENTS, EXTENDER_NAME
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.handle import Handle
from engine.scheduler.framework.profile import Profile, announces_nodes, has_dynamic_resources, has_taint_rules
from engine.scheduler.framework.runtime import Factory, Framework
from engine.scheduler.framework.status import error
from engine.scheduler.metrics import SchedulerMetrics
from engine.scheduler.plugins.registry import REGISTRY
from engine.scheduler.plugins.resource_claims import (
    DEVICE_CLASSES,
    DEVICE_TAINT_RULES,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
)
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.queue.hints import Hints
from engine.scheduler.queue.nominator import Nominator
from engine.scheduler.queue.queued_pod import QueuedPod
from engine.scheduler.queue.scheduling_queue import SchedulingQueue
from engine.scheduler.views import SchedulerViews
from engine.tasks import Supervisor
from engine.trace import Hop, Span, SpanContext
from engine.world import World

log = logging.getLogger(__name__)

# The host that events are reported from; the control plane's machine has no name in the model.
HOST = "control-plane"


class Scheduler:
    """One scheduler for all its profiles. `registry` may add plugins to those in the tree."""

    def __init__(
        self,
        client: Client,
        world: World,
        *,
        configuration: SchedulerConfiguration | None = None,
        kubernetes_version: str = "",
        registry: Mapping[str, Factory] = REGISTRY,
    ) -> None:
        configuration = configuration or SchedulerConfiguration()
        profiles = [profile.for_version(kubernetes_version) for profile in configuration.profiles]
        self._not_served = (
            *(() if has_taint_rules(kubernetes_version) else (DEVICE_TAINT_RULES,)),
            *(() if has_dynamic_resources(kubernetes_version) else (RESOURCE_CLAIMS, RESOURCE_SLICES, DEVICE_CLASSES)),
        )
        self._version = kubernetes_version
        self._announces = announces_nodes(kubernetes_version)
        self._client = client
        self._world = world
        self._tasks = Supervisor("scheduler")
        self._informers = InformerFactory(client, world)
        self._recorders = {p.scheduler_name: SeriesRecorder(client, world, p.scheduler_name, HOST) for p in profiles}
        self.cache = Cache()
        self.snapshot = Snapshot()
        self.nominator = Nominator()
        self.decisions = Decisions()
        self.metrics = SchedulerMetrics()
        self._shared: dict[type[Any], object] = {}
        self._extenders = [Extender(each) for each in configuration.extenders]
        self.frameworks = {p.scheduler_name: self._framework(p, registry) for p in profiles}
        first = next(iter(self.frameworks.values()))
        self.queue = SchedulingQueue(
            world.clock,
            first.queue_sort[0].less,
            hints={name: _hints(framework) for name, framework in self.frameworks.items()},
            pre_enqueue={name: framework.pre_enqueue for name, framework in self.frameworks.items()},
            nominator=self.nominator,
            initial_backoff=configuration.initial_backoff,
            max_backoff=configuration.max_backoff,
            metrics=self.metrics,
        )
        rng = world.rng.stream("scheduler")
        self._cycle = SchedulingCycle(self.cache, self.snapshot, self.nominator, rng, self._extenders)
        self._pods = pod_informer(self._informers).lister
        self._views = SchedulerViews(self, world.clock, configuration)

    def _framework(self, profile: Profile, registry: Mapping[str, Factory]) -> Framework:
        handle = Handle(
            clock=self._world.clock,
            rng=self._world.rng.stream("scheduler"),
            snapshot=self.snapshot,
            nominator=self.nominator,
            lister=self._lister,
            client=self._client,
            recorder=self._recorders[profile.scheduler_name],
            activate=lambda pod: self.queue.activate(pod),
            spawn=self._tasks.spawn,
            extenders=self._extenders,
            version=self._version,
            metrics=self.metrics,
            shared=self._shared,
        )
        return Framework(profile, registry, handle)

    def _lister(self, resource: GVR) -> Lister:
        if resource == PODS:
            return self._pods
        return self._informers.lister(resource)

    # -- life

    async def start(self) -> None:
        """Returns when the caches are filled and pods are being scheduled."""
        handlers = EventHandlers(self.cache, self.queue, self.frameworks, self._not_served, metrics=self.metrics)
        handlers.register(self._informers)
        plugins = [plugin for framework in self.frameworks.values() for plugin in framework.plugins.values()]
        read = {resource for plugin in plugins for resource in plugin.reads}
        for resource in (*LISTED, *sorted(read - set(self._not_served))):
            self._informers.informer(resource)
        self._informers.start()
        await self._informers.wait_for_sync()
        self._views.offer(self._world.views)
        self.queue.run()
        self._tasks.spawn(self._run(), "scheduling")

    async def stop(self) -> None:
        self._views.withdraw(self._world.views)
        self.queue.close()
        await self._tasks.close()
        await self._informers.stop()
        for recorder in self._recorders.values():
            await recorder.close()
        for extender in self._extenders:
            await extender.close()

    # -- scheduling

    async def _run(self) -> None:
        while True:
            queued = await self.queue.pop()
            try:
                await self._schedule_one(queued)
            except Exception:
                # A bug that one pod brings out must not end the scheduling of all others.
                log.exception("pod %s fell out of the queue", queued.pod.key)
                self.queue.done(queued.pod.uid)
            # Let bindings, watches and the others have their turn.
            await self._world.clock.sleep(0)

    async def _schedule_one(self, queued: QueuedPod) -> None:
        framework = self.frameworks[queued.pod.scheduler_name]
        with self._span("schedule", queued, first_cause(queued.origins)) as span:
            await self._world.latency.pause("scheduler")
            if self._skip(queued.pod):
                span.outcome = "skipped"
                self.queue.done(queued.pod.uid)
                return
            decision, began = self._decision(queued, span), self._world.clock.monotonic()
            state = CycleState()
            state.plugins_measured = self.metrics.samples_plugins()
            placement = await self._decide(framework, state, queued.pod, decision)
            self._conclude(decision, placement, span)
            if placement.assumed is not None:
                work = self._bind(
                    framework, state, queued, placement, decision=decision, cause=span.context, began=began
                )
                self._tasks.spawn(work, f"bind {queued.pod.key}")
                return
            await self._failed(queued, placement, began)
            decision.moves = [move.to_json() for move in queued.moves]

    def _span(self, verb: str, queued: QueuedPod, cause: SpanContext | None) -> Any:
        pod = queued.pod
        return self._world.tracer.span(
            Hop.SCHEDULER,
            component=pod.scheduler_name,
            verb=verb,
            object=f"pod/{pod.namespace}/{pod.name}",
            cause=cause,
            revision=next((origin.revision for origin in queued.origins), 0),
            woken_by=woken_by(queued.origins),
        )

    def _skip(self, pod: PodInfo) -> bool:
        """A pod that is on its way out, gone, bound or assumed is not scheduled."""
        current = self._pods.get(pod.name, pod.namespace)
        if current is None or not pod.is_same_as(current) or current["spec"].get("nodeName"):
            return True
        if current["metadata"].get("deletionTimestamp"):
            message = f"skip schedule deleting pod: {pod.namespace}/{pod.name}"
            self._recorders[pod.scheduler_name].event(current, WARNING, "FailedScheduling", "Scheduling", message)
            return True
        return self.cache.is_assumed(pod.uid)

    def _decision(self, queued: QueuedPod, span: Span) -> Decision:
        decision = Decision(
            pod=queued.pod.key,
            uid=queued.pod.uid,
            labels=queued.pod.labels,
            attempt=queued.attempts,
            profile=queued.pod.scheduler_name,
            time=self._world.clock.micro_timestamp(),
            moves=[move.to_json() for move in queued.moves],
            trace=span.trace_id,
        )
        self.decisions.add(decision)
        return decision

    async def _decide(self, framework: Framework, state: CycleState, pod: PodInfo, decision: Decision) -> Placement:
        began = wall()
        framework.handle.note = decision.notes.__setitem__
        try:
            return await self._cycle.run(framework, state, pod, decision)
        except Exception as failure:
            # A plugin's bug must not stop the scheduling of all other pods.
            log.exception("scheduling pod %s", pod.key)
            return Placement(status=error(f"{type(failure).__name__}: {failure}"))
        finally:
            decision.wall_ms = (wall() - began) * 1000
            self.metrics.algorithm_duration.observe(wall() - began)

    def _conclude(self, decision: Decision, placement: Placement, span: Span) -> None:
        """Note how the attempt ended."""
        if placement.assumed is not None:
            decision.result, decision.winner = "scheduled", placement.node_name
        else:
            status = placement.status or error("")
            decision.result = "unschedulable" if status.rejected else "error"
            decision.message = status.message
            decision.nominated = placement.nominated or ""
            span.outcome = "Unschedulable" if status.rejected else "SchedulerError"
        span.detail.update(decision.summary())

    async def _failed(self, queued: QueuedPod, placement: Placement, began: float) -> None:
        """An attempt that began then has come to nothing."""
        rejected = placement.status is not None and placement.status.rejected
        took = self._world.clock.monotonic() - began
        self.metrics.attempted("unschedulable" if rejected else "error", queued.pod.scheduler_name, took)
        failure = FailureHandler(
            client=self._client,
            pods=self._pods,
            queue=self.queue,
            recorder=self._recorders[queued.pod.scheduler_name],
            clock=self._world.clock,
        )
        await failure.handle(queued, placement)

    async def _bind(
        self,
        framework: Framework,
        state: CycleState,
        queued: QueuedPod,
        placement: Placement,
        *,
        decision: Decision,
        cause: SpanContext,
        began: float,
    ) -> None:
        assumed = placement.assumed
        assert assumed is not None
        decision.bound, decision.permit = "binding", framework.handle.waiting.get(assumed.uid)
        decision.in_pre_bind = framework.handle.in_pre_bind
        recorder = self._recorders[assumed.scheduler_name]
        self.metrics.binding.add("binding")
        with self._span("bind", queued, cause) as span:
            span.detail["node"] = placement.node_name
            cycle = BindingCycle(self.cache, self.queue, recorder, self._client if self._announces else None)
            try:
                bound = await cycle.run(framework, state, assumed)
            except Exception as failure:
                log.exception("binding pod %s", assumed.key)
                bound = Placement(status=error(f"{type(failure).__name__}: {failure}"))
                cycle.give_back(framework, state, assumed, error(""))
            self.metrics.binding.add("binding", by=-1)
            if bound.assumed is None:
                span.outcome = "BindingFailed"
                span.detail["message"] = message = (bound.status or error("")).message
                decision.bound, decision.bound_message = "failed", message
                await self._failed(queued, bound, began)
                cycle.tell_of_room()
                return
        decision.bound = "bound"
        self._count_bound(queued, began)

    def _count_bound(self, queued: QueuedPod, began: float) -> None:
        now = self._world.clock.monotonic()
        self.metrics.attempted("scheduled", queued.pod.scheduler_name, now - began)
        first = queued.initial_attempt if queued.initial_attempt is not None else began
        self.metrics.scheduled(queued.attempts, now - first)
        if queued.flushed:
            self.metrics.scheduled_after_flush.add()

    def look_nodes(self) -> list[Object]:
        """What the cache counts on every node."""
        return [
            {
                "node": info.name,
                "pods": len(info.pods),
                "requested": info.requested.to_json(),
                "allocatable": info.allocatable.to_json(),
                "allowedPods": info.allocatable.allowed_pods,
                "unschedulable": info.unschedulable,
                "taints": info.taints,
                "assumed": [p.key for p in self.cache.assumed_pods if p.node_name == info.name],
                "nominated": [p.key for p in self.nominator.nominated_on(info.name)],
            }
            for info in self.cache.nodes.values()
            if info.node is not None
        ]


def _hints(framework: Framework) -> Hints:
    """Of plugins, and of extenders, which do not say what may help: so anything may."""
    extended = [(event, EXTENDER_NAME, hint) for event, hint in EVENTS] if framework.handle.extenders else []
    return extended + [
        (event, plugin.name, hint) for plugin in framework.rejecting for event, hint in plugin.events_to_register()
    ]


# What plugins read beside pods, nodes and namespaces.
LISTED = (
    GVR("", "v1", "services"),
    GVR("", "v1", "replicationcontrollers"),
    GVR("apps", "v1", "replicasets"),
    GVR("apps", "v1", "statefulsets"),
    GVR("policy", "v1", "poddisruptionbudgets"),
)
