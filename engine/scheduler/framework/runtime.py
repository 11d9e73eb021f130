"""A framework: the plugins of one profile, and how each extension point is run (upstream's framework/runtime)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from engine.clock import wall
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.diagnosis import NodeToStatus
from engine.scheduler.framework.failing import check_bounds, failed, failed_pre_flight, raise_error, raise_errors
from engine.scheduler.framework.handle import Handle
from engine.scheduler.framework.measuring import Durations, Measuring, measured, measured_task
from engine.scheduler.framework.plugin import (
    BindPlugin,
    Depends,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
    Scores,
)
from engine.scheduler.framework.profile import Profile
from engine.scheduler.framework.status import (
    SKIP,
    SUCCESS,
    Code,
    PluginError,
    Status,
    error,
    unresolvable,
    unschedulable,
)
from engine.scheduler.framework.verdicts import Rejection, Verdicts
from engine.scheduler.framework.waiting_pods import WaitingPod
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo

Factory = Callable[[Mapping[str, object], Handle], Plugin]
P = TypeVar("P", bound=Plugin)


class PreFilterOutcome(NamedTuple):
    """`node_names` None is all nodes; `narrowed_by` are the plugins that said which."""

    status: Status
    node_names: frozenset[str] | None = None
    narrowed_by: tuple[str, ...] = ()


class ScoreColumn(NamedTuple):
    plugin: str
    weight: int
    raw: Scores
    normalized: Scores


class Framework:
    def __init__(self, profile: Profile, registry: Mapping[str, Factory], handle: Handle) -> None:
        """Builds the profile's plugins. Raises ValueError for a name that the registry lacks."""
        unknown = [p.name for p in profile.plugins if p.name not in registry]
        if unknown:
            raise ValueError(f"profile {profile.scheduler_name!r}: unknown plugins {', '.join(unknown)}")
        self.profile = profile
        self.handle = handle
        self.measuring = Measuring(handle.metrics, profile.scheduler_name)
        self.vectorised = True  # False asks every plugin node by node
        self.plugins: dict[str, Plugin] = {
            name: registry[name](profile.plugin_args.get(name, {}), handle)
            for name in dict.fromkeys(p.name for p in profile.plugins)
        }
        self.weights = {p.name: p.weight or 1 for p in profile.plugins if p.serves("Score")}
        self.pre_enqueue = self._at("PreEnqueue", PreEnqueuePlugin)
        self.queue_sort = self._at("QueueSort", QueueSortPlugin)
        self.pre_filter = self._at("PreFilter", PreFilterPlugin)
        self.filter = self._at("Filter", FilterPlugin)
        self.post_filter = self._at("PostFilter", PostFilterPlugin)
        self.pre_score = self._at("PreScore", PreScorePlugin)
        self.score = self._at("Score", ScorePlugin)
        self.reserve = self._at("Reserve", ReservePlugin)
        self.permit = self._at("Permit", PermitPlugin)
        self.pre_bind = self._at("PreBind", PreBindPlugin)
        self.bind = self._at("Bind", BindPlugin)
        self.post_bind = self._at("PostBind", PostBindPlugin)
        # Those that can turn a pod away, and so may be asked whether an event is worth another try.
        self.rejecting: list[Plugin] = list(
            dict.fromkeys((*self.pre_enqueue, *self.pre_filter, *self.filter, *self.reserve, *self.permit))
        )
        if len(self.queue_sort) != 1:
            raise ValueError(f"profile {profile.scheduler_name!r}: one queue sort plugin is required")
        if not self.bind:
            raise ValueError(f"profile {profile.scheduler_name!r}: at least one bind plugin is needed")
        handle.filters = self

    def _at(self, point: str, kind: type[P]) -> list[P]:
        return [
            plugin
            for enabled in self.profile.plugins
            if enabled.serves(point) and isinstance(plugin := self.plugins[enabled.name], kind)
        ]

    # -- finding feasible nodes

    @measured("PreFilter")
    def run_pre_filter(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, durations: Durations
    ) -> PreFilterOutcome:
        rejected: Status | None = None
        names: frozenset[str] | None = None
        narrowed: list[str] = []
        for plugin in self.pre_filter:
            began = wall()
            status, wanted = plugin.pre_filter(state, pod, snapshot)
            durations.add("PreFilter", plugin.name, began)
            skipped = status.code is Code.SKIP
            self.measuring.plugin(
                state, "PreFilter", plugin, began=began, code=status.code, evaluated=0 if skipped else 1
            )
            if skipped:
                state.skip_filter.add(plugin.name)
                continue
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return PreFilterOutcome(status.by(plugin.name))
            if status.code is Code.UNSCHEDULABLE:
                # The others still run: one of them may find that nothing can help. The last one is told.
                rejected = status.by(plugin.name)
                continue
            if not status.ok:
                return PreFilterOutcome(error(f'running PreFilter plugin "{plugin.name}": {status.message}'))
            if wanted is not None:
                narrowed.append(plugin.name)
                names = wanted if names is None else names & wanted
                if not names:
                    return PreFilterOutcome(self._nothing_left(narrowed), narrowed_by=tuple(narrowed))
        return PreFilterOutcome(rejected or SUCCESS, names, tuple(narrowed))

    def _nothing_left(self, narrowed: list[str]) -> Status:
        if len(narrowed) == 1:
            return unresolvable(f"node(s) didn't satisfy plugin {narrowed[0]}")
        return unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowed))}] simultaneously")

    def active_filters(self, state: CycleState) -> list[FilterPlugin]:
        return [plugin for plugin in self.filter if plugin.name not in state.skip_filter]

    def only_room_matters(self, state: CycleState) -> bool:
        """Whether pods on a node count for this pod by what they request alone."""
        return self.vectorised and all(plugin.depends is not Depends.PODS for plugin in self.active_filters(state))

    def run_room_filters(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        """`run_filters` of those whose verdict more room may change."""
        for plugin in self.active_filters(state):
            if plugin.depends is not Depends.NODE:
                status = plugin.filter(state, pod, node)
                if not status.ok:
                    return status.by(plugin.name)
        return SUCCESS

    def node_filter_rows(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Rows:
        """The rows that pass those filters that no pod on a node matters to."""
        for plugin in self.active_filters(state):
            if plugin.depends is Depends.NODE:
                rows = rows[plugin.filter_all(state, pod, snapshot, rows).codes == 0]
        return rows

    def filter_rows(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, *, rows: Rows, durations: Durations
    ) -> tuple[Rows, list[Rejection]]:
        """The rows that pass all filters, in order, and who rejected the others. Nominated pods are not looked at.
        Raises PluginError."""
        rejections = []
        for plugin in self.active_filters(state):
            if not len(rows):
                break
            began = wall()
            ask = plugin.filter_all if self.vectorised else plugin.filter_each
            verdicts = ask(state, pod, snapshot, rows)
            durations.add("Filter", plugin.name, began)
            code = verdicts.code if state.plugins_measured else Code.SUCCESS
            self.measuring.plugin(state, "Filter", plugin, began=began, code=code, evaluated=len(rows))
            if verdicts.codes.any():
                raise_errors(plugin, verdicts)
                rejected = verdicts.codes != 0
                rejections.append(
                    Rejection(plugin.name, rows[rejected], Verdicts(verdicts.codes[rejected], verdicts.statuses))
                )
                rows = rows[~rejected]
        return rows, rejections

    def run_filters(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        """The first rejection of one node, or success."""
        for plugin in self.active_filters(state):
            status = plugin.filter(state, pod, node)
            self.handle.metrics.evaluations.add(plugin.name, "Filter", self.profile.scheduler_name)
            if not status.ok:
                raise_error(plugin, status)
                return status.by(plugin.name)
        return SUCCESS

    def filter_with_nominated(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        """Filters with the pods of equal or higher priority that are nominated to the node counted on it, and again
        without them: neither their coming nor their staying away may break the pod's requirements."""
        if (crowded := self.crowded(state, pod, node)) is not None:
            status = self.run_filters(crowded[0], pod, crowded[1])
            if not status.ok:
                return status
        return self.run_filters(state, pod, node)

    def crowded(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> tuple[CycleState, NodeInfo] | None:
        """The state and the node as they are with the pods that are nominated to it; None where none counts."""
        nominated = self.counted_nominated(pod, node.name)
        if not nominated:
            return None
        crowded, twin = node.copy(), state.clone()
        for other in nominated:
            crowded.add_pod(other)
            self.add_pod(twin, pod, other, crowded)
        return twin, crowded

    def counted_nominated(self, pod: PodInfo, node_name: str) -> list[PodInfo]:
        """The pods nominated to a node that count for this pod."""
        nominated = self.handle.nominator.nominated_on(node_name)
        return [other for other in nominated if other.priority >= pod.priority and other.uid != pod.uid]

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> None:
        for plugin in self.pre_filter:
            if plugin.name not in state.skip_filter:
                plugin.add_pod(state, pod, added, node)

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> None:
        for plugin in self.pre_filter:
            if plugin.name not in state.skip_filter:
                plugin.remove_pod(state, pod, removed, node)

    @measured_task("PostFilter")
    async def run_post_filter(self, state: CycleState, pod: PodInfo, statuses: NodeToStatus) -> PostFilterResult:
        """The first plugin that makes the pod schedulable wins; else all their reasons in one."""
        rejections: list[PostFilterResult] = []
        for plugin in self.post_filter:
            began = wall()
            result = await plugin.post_filter(state, pod, statuses)
            self.measuring.plugin(state, "PostFilter", plugin, began=began, code=result.status.code)
            if result.status.ok or result.status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return PostFilterResult(result.status.by(plugin.name), result.nominated_node)
            if not result.status.rejected:
                return PostFilterResult(error(result.status.message))
            rejections.append(result)
        reasons = [reason for result in rejections for reason in result.status.reasons]
        nomination = next((r.nominated_node for r in reversed(rejections) if r.nominated_node is not None), None)
        return PostFilterResult(unschedulable(*reasons), nomination)

    # -- scoring

    def run_score(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, *, rows: Rows, durations: Durations
    ) -> list[ScoreColumn]:
        """PreScore, Score and NormalizeScore of all plugins. Raises PluginError, also for a score out of bounds."""
        self._pre_score(state, pod, snapshot, rows=rows, durations=durations)
        return self._score(state, pod, snapshot, rows=rows, durations=durations)

    @measured("PreScore")
    def _pre_score(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, *, rows: Rows, durations: Durations
    ) -> None:
        for plugin in self.pre_score:
            began = wall()
            status = plugin.pre_score(state, pod, snapshot, rows)
            durations.add("PreScore", plugin.name, began)
            skipped = status.code is Code.SKIP
            self.measuring.plugin(
                state, "PreScore", plugin, began=began, code=status.code, evaluated=0 if skipped else 1
            )
            if skipped:
                state.skip_score.add(plugin.name)
            elif not status.ok:
                raise PluginError(f'running PreScore plugin "{plugin.name}": {status.message}')

    @measured("Score")
    def _score(
        self, state: CycleState, pod: PodInfo, snapshot: Snapshot, *, rows: Rows, durations: Durations
    ) -> list[ScoreColumn]:
        columns = []
        for scorer in self.score:
            if scorer.name in state.skip_score:
                continue
            began = wall()
            ask = scorer.score_all if self.vectorised else scorer.score_each
            raw = ask(state, pod, snapshot, rows)
            self.measuring.plugin(state, "Score", scorer, began=began, evaluated=len(rows))
            normalized = scorer.normalize(state, pod, raw, snapshot, rows)
            durations.add("Score", scorer.name, began)
            check_bounds(scorer.name, normalized)
            columns.append(ScoreColumn(scorer.name, self.weights[scorer.name], raw, normalized))
        return columns

    # -- reserving and permitting

    @measured("Reserve")
    def run_reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        for plugin in self.reserve:
            began = wall()
            status = plugin.reserve(state, pod, node_name)
            self.measuring.plugin(state, "Reserve", plugin, began=began, code=status.code)
            if not status.ok:
                return failed("Reserve", plugin, status)
        return SUCCESS

    @measured("Unreserve")
    def run_unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        for plugin in reversed(self.reserve):
            began = wall()
            plugin.unreserve(state, pod, node_name)
            self.measuring.plugin(state, "Unreserve", plugin, began=began)

    @measured("Permit")
    def run_permit(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        timeouts: dict[str, float] = {}
        for plugin in self.permit:
            began = wall()
            status, timeout = plugin.permit(state, pod, node_name)
            self.measuring.plugin(state, "Permit", plugin, began=began, code=status.code)
            if status.code is Code.WAIT:
                timeouts[plugin.name] = timeout
            elif not status.ok:
                return failed("Permit", plugin, status)
        if not timeouts:
            return SUCCESS
        self.handle.waiting.add(WaitingPod(pod, node_name, timeouts=timeouts, clock=self.handle.clock))
        return Status(Code.WAIT, f'one or more plugins asked to wait and no plugin rejected pod "{pod.name}"')

    async def wait_on_permit(self, pod: PodInfo) -> Status:
        waiting = self.handle.waiting.get(pod.uid)
        if waiting is None:
            return SUCCESS
        began = self.handle.clock.monotonic()
        try:
            status = await waiting.wait()
        finally:
            self.handle.waiting.remove(pod.uid)
        self.handle.metrics.permit_wait.observe(self.handle.clock.monotonic() - began, status.code.label)
        return error(f"waiting on permit for pod: {status.message}") if status.code is Code.ERROR else status

    # -- binding

    def run_pre_bind_pre_flights(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Success if a PreBind plugin has something to do, SKIP if none has; those that have not are left out of
        `run_pre_bind`. There is nothing to refuse here any more: anything else is an error."""
        skipped: set[str] = set()
        for plugin in self.pre_bind:
            status = plugin.pre_bind_pre_flight(state, pod, node_name)
            if status.code is Code.SKIP:
                skipped.add(plugin.name)
            elif not status.ok:
                return failed_pre_flight(plugin, status)
        state.skip_pre_bind |= skipped
        return SUCCESS if len(skipped) < len(self.pre_bind) else SKIP

    @measured_task("PreBind")
    async def run_pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        with self.handle.in_pre_bind.entered(pod.uid) as entered:
            for plugin in self.pre_bind:
                if plugin.name in state.skip_pre_bind:
                    continue
                began, entered.at = wall(), (plugin, state)
                status = await entered.run(plugin.pre_bind(state, pod, node_name), plugin.when_cancelled)
                self.measuring.plugin(state, "PreBind", plugin, began=began, code=status.code)
                if not status.ok:
                    return failed("PreBind", plugin, status)
                if entered.cancelled:
                    return error(entered.cancelled)
        return SUCCESS

    @measured_task("Bind")
    async def run_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        status = SKIP
        for plugin in self.bind:
            began = wall()
            status = await plugin.bind(state, pod, node_name)
            self.measuring.plugin(state, "Bind", plugin, began=began, code=status.code)
            if status.code is Code.SKIP:
                continue
            return status if status.ok else failed("Bind", plugin, status)
        return status

    @measured("PostBind")
    def run_post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        for plugin in self.post_bind:
            began = wall()
            plugin.post_bind(state, pod, node_name)
            self.measuring.plugin(state, "PostBind", plugin, began=began)
