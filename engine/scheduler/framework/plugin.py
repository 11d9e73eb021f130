"""The extension points (design, section 4): a plugin implements those that it needs.

Filter and Score are written for one node. A plugin may also answer for many nodes at once (`filter_all`, `score_all`);
it must then give the same answer, only sooner. One that does not is asked node by node.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.api.types import GVR
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.diagnosis import NodeToStatus
from engine.scheduler.framework.events import ALL_EVENTS, EventWithHint
from engine.scheduler.framework.status import SUCCESS, Status
from engine.scheduler.framework.verdicts import Verdicts
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

MAX_NODE_SCORE = 100

Scores = NDArray[np.int64]


class Plugin:
    """`args` are those of a KubeSchedulerConfiguration's pluginConfig (v1 field names), `handle` is the framework's."""

    name: ClassVar[str]
    reads: ClassVar[tuple[GVR, ...]] = ()  # what it lists, beyond what its events are of

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self.args = args
        self.handle = handle

    def events_to_register(self) -> list[EventWithHint]:
        """The events that may make a pod schedulable that this plugin rejected."""
        return ALL_EVENTS


class Queued(Protocol):
    """A waiting pod as QueueSort sees it."""

    @property
    def pod(self) -> PodInfo: ...

    @property
    def timestamp(self) -> float: ...


class PreEnqueuePlugin(Plugin):
    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Whether the pod may enter the active queue at all."""
        raise NotImplementedError


class QueueSortPlugin(Plugin):
    def less(self, first: Queued, second: Queued) -> bool:
        raise NotImplementedError


class PreFilterResult(NamedTuple):
    """`node_names` limits the nodes that are looked at; None is all."""

    status: Status = SUCCESS
    node_names: frozenset[str] | None = None


class PreFilterPlugin(Plugin):
    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        """Prepare what Filter reads; SKIP where Filter has nothing to say of this pod."""
        raise NotImplementedError

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> None:
        """`state` as if a further pod were on a node (preemption, nominated pods)."""

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> None:
        """`state` as if a pod were gone from a node (preemption)."""


class Depends(Enum):
    """What of a node a filter's verdict depends on: the node alone; also on the sums of what its pods request, more of
    which only ever makes it harder; on the pods themselves, there or elsewhere."""

    NODE = "node"
    ROOM = "room"
    PODS = "pods"


class FilterPlugin(Plugin):
    depends: ClassVar[Depends] = Depends.PODS

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        raise NotImplementedError

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """The verdicts on the nodes of these rows."""
        return self.filter_each(state, pod, snapshot, rows)

    def filter_each(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """The plain way: node by node."""
        statuses: list[Status] = [SUCCESS]
        known: dict[Status, int] = {SUCCESS: 0}
        codes = np.zeros(len(rows), np.intp)
        for i, row in enumerate(rows):
            status = self.filter(state, pod, snapshot.nodes[row])
            code = known.get(status)
            if code is None:
                code = known[status] = len(statuses)
                statuses.append(status)
            codes[i] = code
        return Verdicts(codes, statuses)


class PostFilterResult(NamedTuple):
    """`nominated_node` is None to leave the pod's nomination as it is, "" to clear it."""

    status: Status
    nominated_node: str | None = None


class PostFilterPlugin(Plugin):
    async def post_filter(self, state: CycleState, pod: PodInfo, statuses: NodeToStatus) -> PostFilterResult:
        """Called when no node is feasible."""
        raise NotImplementedError


class PreScorePlugin(Plugin):
    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        raise NotImplementedError


class ScorePlugin(Plugin):
    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        raise NotImplementedError

    def score_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Scores:
        """The raw scores of the nodes of these rows."""
        return self.score_each(state, pod, snapshot, rows)

    def score_each(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Scores:
        """The plain way: node by node."""
        return np.fromiter((self.score(state, pod, snapshot.nodes[row]) for row in rows), np.int64, len(rows))

    def normalize(self, state: CycleState, pod: PodInfo, scores: Scores, snapshot: Snapshot, rows: Rows) -> Scores:
        """Raw scores brought to 0..100; they are that already unless a plugin says otherwise."""
        return scores


class ReservePlugin(Plugin):
    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Give back what `reserve` took; may be called without it."""


class PermitResult(NamedTuple):
    """With a WAIT status, `timeout` is how many seconds the pod may wait to be allowed."""

    status: Status = SUCCESS
    timeout: float = 0.0


class PermitPlugin(Plugin):
    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        raise NotImplementedError


class PreBindPlugin(Plugin):
    # How the plugin reports that the binding was called off, as the pod was preempted.
    when_cancelled: ClassVar[str] = "context canceled"

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """SKIP where `pre_bind` has nothing to do; asked before the pod waits for anything (KEP 5278)."""
        return SUCCESS

    def pre_bind_wait(self, state: CycleState) -> str:
        """What `pre_bind` is waiting for, and for how long at most; asked when somebody looks."""
        return ""

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        raise NotImplementedError


class BindPlugin(Plugin):
    async def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """SKIP leaves the pod to the next bind plugin."""
        raise NotImplementedError


class PostBindPlugin(Plugin):
    def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        raise NotImplementedError


# The extension points and what a plugin is that serves at each.
POINTS: dict[str, type[Plugin]] = {
    "PreEnqueue": PreEnqueuePlugin,
    "QueueSort": QueueSortPlugin,
    "PreFilter": PreFilterPlugin,
    "Filter": FilterPlugin,
    "PostFilter": PostFilterPlugin,
    "PreScore": PreScorePlugin,
    "Score": ScorePlugin,
    "Reserve": ReservePlugin,
    "Permit": PermitPlugin,
    "PreBind": PreBindPlugin,
    "Bind": BindPlugin,
    "PostBind": PostBindPlugin,
}


def default_normalize(scores: Scores, *, reverse: bool = False) -> Scores:
    """Scale to 0..100 by the highest, or down from 100 (plugins/helper DefaultNormalizeScore)."""
    highest = int(scores.max()) if len(scores) else 0
    if highest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores
    scaled = scores * MAX_NODE_SCORE // highest
    return MAX_NODE_SCORE - scaled if reverse else scaled
