"""What the framework lends to plugins (framework.Handle): listers, client, events, time, chance, the queue's levers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from engine.api.types import GVR, NAMESPACES, Object
from engine.client import Client
from engine.clock import Clock
from engine.rng import Rng
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.pods_in_pre_bind import PodsInPreBind
from engine.scheduler.framework.status import Status
from engine.scheduler.framework.waiting_pods import WaitingPods
from engine.scheduler.metrics import SchedulerMetrics
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo

if TYPE_CHECKING:
    from engine.scheduler.extenders import Extender

T = TypeVar("T")


class ObjectLister(Protocol):
    """The part of `engine.client.Lister` that plugins use."""

    def get(self, name: str, namespace: str = "") -> Object | None: ...

    def list(self, namespace: str = "") -> list[Object]: ...


class Recorder(Protocol):
    def event(
        self, regarding: Object, type: str, reason: str, action: str, note: str, *, related: Object | None = None
    ) -> None: ...


class Filters(Protocol):
    """The parts of a framework that its own plugins need: preemption its filters."""

    def filter_with_nominated(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status: ...

    def only_room_matters(self, state: CycleState) -> bool: ...

    def run_filters(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status: ...

    def node_filter_rows(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Rows: ...

    def run_room_filters(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status: ...

    def counted_nominated(self, pod: PodInfo, node_name: str) -> list[PodInfo]: ...

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> None: ...

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> None: ...


class Nomination(Protocol):
    @property
    def node(self) -> str: ...

    @property
    def pod(self) -> PodInfo: ...

    @property
    def sign(self) -> int: ...


class Nominator(Protocol):
    version: int

    def node_of(self, uid: str) -> str: ...

    def nominated_on(self, node_name: str) -> list[PodInfo]: ...

    def nominated_nodes(self) -> Iterable[str]: ...

    def changes_since(self, version: int) -> Sequence[Nomination] | None: ...


class Handle:
    """One per profile. `lister` gives a lister of any resource; `note` adds to the record of the running attempt."""

    def __init__(
        self,
        *,
        clock: Clock,
        rng: Rng,
        snapshot: Snapshot,
        nominator: Nominator,
        lister: Callable[[GVR], ObjectLister],
        client: Client | None = None,
        recorder: Recorder | None = None,
        activate: Callable[[PodInfo], None] = lambda pod: None,
        spawn: Callable[[Coroutine[Any, Any, Any], str], object] | None = None,
        extenders: Sequence[Extender] = (),
        version: str = "",
        metrics: SchedulerMetrics | None = None,
        shared: dict[type[Any], object] | None = None,
    ) -> None:
        """`version` is the Kubernetes version whose scheduler this is; "" is the newest. `shared` is one for all
        profiles of a scheduler."""
        self.clock = clock
        self.rng = rng
        self.snapshot = snapshot
        self.nominator = nominator
        self.lister = lister
        self.activate = activate
        self.namespaces_version = 1  # bumped when the labels of a namespace change
        self._client = client
        self._recorder = recorder
        self._spawn = spawn
        self._filters: Filters | None = None
        self.extenders: Sequence[Extender] = extenders
        # All claims to devices, also those whose allocation is only being written.
        self.claims_in_use: Callable[[], Iterable[Object]] = list
        self.version = version
        self.metrics = metrics or SchedulerMetrics()
        self._shared = shared if shared is not None else {}
        # A pod of one profile may have to make room for a pod of another.
        self.waiting = self.shared(WaitingPods, WaitingPods)
        self.in_pre_bind = self.shared(PodsInPreBind, PodsInPreBind)
        self.note: Callable[[str, Any], None] = lambda key, value: None

    def shared(self, kind: type[T], make: Callable[[], T]) -> T:
        """What is one for all profiles, made by the first that asks."""
        found = self._shared.get(kind)
        if not isinstance(found, kind):
            found = self._shared[kind] = make()
        return found

    @property
    def client(self) -> Client:
        if self._client is None:
            raise RuntimeError("this framework has no client: it can decide but not act")
        return self._client

    @property
    def filters(self) -> Filters:
        if self._filters is None:
            raise RuntimeError("the framework is not built yet")
        return self._filters

    @filters.setter
    def filters(self, filters: Filters) -> None:
        self._filters = filters

    @property
    def recorder(self) -> Recorder:
        if self._recorder is None:
            raise RuntimeError("this framework has no recorder: it can decide but not act")
        return self._recorder

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Run something beside the cycle until it ends or the scheduler stops."""
        if self._spawn is None:
            work.close()
            raise RuntimeError("this framework has no tasks: it can decide but not act")
        self._spawn(work, name)

    def namespace_labels(self, namespace: str) -> dict[str, str]:
        found = self.lister(NAMESPACES).get(namespace)
        return (found["metadata"].get("labels") or {}) if found is not None else {}
