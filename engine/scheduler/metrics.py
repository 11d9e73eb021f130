"""The figures that kube-scheduler keeps of itself, under upstream's names (pkg/scheduler/metrics/metrics.go).

What is computed (plugins, extension points, the algorithm, event handlers) is measured on this machine's clock, as
spans are. What a pod waits for (an attempt with its binding, Permit, the way from the queue to a node) is measured on
the model's, so that back-offs and simulated latencies are in it and a paused cluster adds nothing.
Of queueing hints, as of plugins, every tenth is measured: measuring one takes as long as asking it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.metrics import Counter, Family, Gauge, Histogram, exponential_buckets

# Of so many attempts one has its plugins measured (pluginMetricsSamplePercent is 10).
SAMPLED = 10
MOST_ATTEMPTS = 15

_ATTEMPT = exponential_buckets(0.001, 2, 15)
_POINT = exponential_buckets(0.0001, 2, 12)
_PLUGIN = exponential_buckets(0.00001, 1.5, 20)


class SchedulerMetrics:
    """One for all profiles."""

    def __init__(self) -> None:
        self.attempts = Counter(
            "scheduler_schedule_attempts_total",
            "[STABLE] Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be "
            "scheduled, while 'error' means an internal scheduler problem.",
            "result",
            "profile",
        )
        self.attempt_duration = Histogram(
            "scheduler_scheduling_attempt_duration_seconds",
            "[STABLE] Scheduling attempt latency in seconds (scheduling algorithm + binding)",
            "result",
            "profile",
            buckets=_ATTEMPT,
        )
        self.algorithm_duration = Histogram(
            "scheduler_scheduling_algorithm_duration_seconds",
            "[BETA] Scheduling algorithm latency in seconds",
            buckets=_ATTEMPT,
        )
        self.event_handling = Histogram(
            "scheduler_event_handling_duration_seconds",
            "[ALPHA] Event handling latency in seconds.",
            "event",
            buckets=_POINT,
        )
        self.preemption_victims = Histogram(
            "scheduler_preemption_victims",
            "[STABLE] Number of selected preemption victims for preemption initiated by a single pod",
            buckets=exponential_buckets(1, 2, 7),
        )
        self.preemption_attempts = Counter(
            "scheduler_preemption_attempts_total", "[STABLE] Total preemption attempts in the cluster till now"
        )
        self.preemption_runs = Counter(
            "scheduler_preemption_goroutines_execution_total",
            "[ALPHA] Number of preemption goroutines executed.",
            "result",
        )
        self.preemption_duration = Histogram(
            "scheduler_preemption_goroutines_duration_seconds",
            "[ALPHA] Duration in seconds for running goroutines for the preemption.",
            "result",
            buckets=exponential_buckets(0.01, 2, 20),
        )
        self.volume_errors = Counter(
            "scheduler_volume_scheduling_stage_error_total",
            "[ALPHA] Volume scheduling stage error count",
            "operation",
        )
        self.pending = Gauge(
            "scheduler_pending_pods",
            "[STABLE] Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' "
            "means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulableEntities that the "
            "scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that the "
            "scheduler never attempted to schedule because they are gated; 'incomplete' means number of pods in "
            "incompletePodGroupPods; 'pending' means number of pods in pendingPodGroupPods.",
            "queue",
        )
        self.queued_entities = Gauge(
            "scheduler_queued_entities",
            "[ALPHA] Number of queued scheduling entities ('pod' or 'podgroup'; 'pod' stands for individual pods that "
            "are not members of any podgroup) by the queue type. 'active' means number of entities in activeQ; "
            "'backoff' means number of entities in backoffQ; 'unschedulable' means number of entities in "
            "unschedulableEntities that the scheduler attempted to schedule and failed; 'gated' is the number of "
            "unschedulable entities that the scheduler never attempted to schedule because they are gated.",
            "queue",
            "type",
        )
        self.binding = Gauge(
            "scheduler_goroutines",
            "[BETA] Number of running goroutines split by the work they do such as binding.",
            "operation",
        )
        self.sli_duration = Histogram(
            "scheduler_pod_scheduling_sli_duration_seconds",
            "[BETA] E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might "
            "involve multiple scheduling attempts.",
            "attempts",
            buckets=exponential_buckets(0.01, 2, 20),
        )
        self.attempts_needed = Histogram(
            "scheduler_pod_scheduling_attempts",
            "[STABLE] Number of attempts to successfully schedule a pod.",
            buckets=exponential_buckets(1, 2, 5),
        )
        self.point_duration = Histogram(
            "scheduler_framework_extension_point_duration_seconds",
            "[STABLE] Latency for running all plugins of a specific extension point.",
            "extension_point",
            "status",
            "profile",
            buckets=_POINT,
        )
        self.plugin_duration = Histogram(
            "scheduler_plugin_execution_duration_seconds",
            "[BETA] Duration for running a plugin at a specific extension point.",
            "plugin",
            "extension_point",
            "status",
            buckets=_PLUGIN,
        )
        self.hint_duration = Histogram(
            "scheduler_queueing_hint_execution_duration_seconds",
            "[ALPHA] Duration for running a queueing hint function of a plugin.",
            "plugin",
            "event",
            "hint",
            buckets=_PLUGIN,
        )
        self.scheduled_after_flush = Counter(
            "scheduler_pod_scheduled_after_flush_total",
            "[ALPHA] Number of pods that were successfully scheduled after being flushed from unschedulableEntities "
            "due to timeout. This metric helps detect potential queueing hint misconfigurations or event handling "
            "issues.",
        )
        self.incoming = Counter(
            "scheduler_queue_incoming_pods_total",
            "[STABLE] Number of pods added to scheduling queues by event and queue type.",
            "queue",
            "event",
        )
        self.incoming_entities = Counter(
            "scheduler_queue_incoming_entities_total",
            "[ALPHA] Number of scheduling entities added to scheduling queues by event, queue type, and entity type. "
            "Entity types are either 'pod' (for individual pods that are not members of any podgroup) or 'podgroup'.",
            "queue",
            "event",
            "type",
        )
        self.permit_wait = Histogram(
            "scheduler_permit_wait_duration_seconds",
            "[BETA] Duration of waiting on permit.",
            "result",
            buckets=_ATTEMPT,
        )
        self.cache_size = Gauge(
            "scheduler_cache_size",
            "[ALPHA] Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
            "type",
        )
        self.unschedulable = Gauge(
            "scheduler_unschedulable_pods",
            "[BETA] The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for "
            "all plugins that caused it to not schedule and so this metric have meaning only when broken down by "
            "plugin.",
            "plugin",
            "profile",
        )
        self.evaluations = Counter(
            "scheduler_plugin_evaluation_total",
            "[BETA] Number of attempts to schedule pods by each plugin and the extension point (available only in "
            "PreFilter, Filter, PreScore, and Score).",
            "plugin",
            "extension_point",
            "profile",
        )
        self.in_flight_events = Gauge(
            "scheduler_inflight_events", "[ALPHA] Number of events currently tracked in the scheduling queue.", "event"
        )
        self.device_waits = Counter(
            "scheduler_dra_bindingconditions_allocations_total",
            "[ALPHA] Number of allocations using devices with BindingConditions, counted per driver per scheduling "
            "attempt",
            "profile",
            "driver",
            "status",
        )
        self.device_wait_duration = Histogram(
            "scheduler_dra_bindingconditions_wait_duration_seconds",
            "[ALPHA] Time in seconds spent waiting for BindingConditions to be satisfied during PreBind.",
            "profile",
            "driver",
            "status",
            buckets=exponential_buckets(0.1, 2, 14),
        )
        self.claims_created = Counter(
            "resourceclaim_controller_creates_total",
            "[ALPHA] Number of ResourceClaims creation requests, categorized by creation status and admin access",
            "status",
            "admin_access",
        )
        self._attempt = self._gating = 0

    def families(self) -> list[Family]:
        return sorted((f for f in vars(self).values() if isinstance(f, Family)), key=lambda family: family.name)

    def samples_plugins(self) -> bool:
        """Whether the attempt that begins is one of those whose plugins are measured: the first, the eleventh, ..."""
        self._attempt = self._attempt % SAMPLED + 1
        return self._attempt == 1

    def gated(self, plugins: Sequence[tuple[str, str, float]], profile: str, seconds: float) -> None:
        """PreEnqueue has run: what each plugin said and took, of every tenth pod, and what it took in all."""
        self.point_duration.observe(seconds, "PreEnqueue", plugins[-1][1] if plugins else "Success", profile)
        self._gating = self._gating % SAMPLED + 1
        if self._gating == 1:
            for plugin, said, took in plugins:
                self.plugin_duration.observe(took, plugin, "PreEnqueue", said)

    def came_in(self, queue: str, event: str) -> None:
        """A pod has come to a part of the queue. Pods are all that there is there: no podgroups are scheduled."""
        self.incoming.add(queue, event)
        self.incoming_entities.add(queue, event, "pod")

    def attempted(self, result: str, profile: str, seconds: float) -> None:
        self.attempts.add(result, profile)
        self.attempt_duration.observe(seconds, result, profile)

    def scheduled(self, attempts: int, seconds: float) -> None:
        """A pod is bound, so many seconds after it was first tried."""
        label = str(attempts) if attempts < MOST_ATTEMPTS else f"{MOST_ATTEMPTS}+"
        self.sli_duration.observe(seconds, label)
        self.attempts_needed.observe(attempts)

    def preempted(self, *, ok: bool, seconds: float) -> None:
        """A pod's victims have been told to go, or not all of them."""
        result = "success" if ok else "error"
        self.preemption_runs.add(result)
        self.preemption_duration.observe(seconds, result)

    def waited_for_devices(self, profile: str, drivers: Iterable[str], status: str, seconds: float) -> None:
        """An attempt's wait for devices that had to be made ready is over."""
        for driver in drivers:
            self.device_waits.add(profile, driver, status)
            self.device_wait_duration.observe(seconds, profile, driver, status)

    def created_claim(self, *, ok: bool) -> None:
        """A claim for extended resources: the scheduler's own ask for no administrative access."""
        self.claims_created.add("success" if ok else "failure", "false")

    def rejected(self, plugins: Iterable[str], profile: str, *, by: int = 1) -> None:
        """So many more of the waiting pods are there that these plugins have rejected."""
        for plugin in plugins:
            self.unschedulable.add(plugin, profile, by=by)
