"""The skeleton of every controller: queue, workers, back-off, tracing and what can be seen of it (design, section 4).

A controller says what it watches and how a change maps to keys, and implements `reconcile(key)`, which compares
desired with actual and acts (controller-runtime's split; the loop is that of kube-controller-manager's controllers).
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextvars import Context
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, ClassVar

from engine.api.errors import ApiError
from engine.api.types import GVR, Object
from engine.client import (
    Client,
    EventRecorder,
    InformerFactory,
    Lister,
    Origin,
    QueueShutDownError,
    SharedInformer,
    WorkQueue,
    first_cause,
    woken_by,
)
from engine.config import ClusterConfig
from engine.controllers.queue_names import queue_name
from engine.metrics import Family
from engine.tasks import Supervisor
from engine.trace import Hop, Span, current_span
from engine.world import World

log = logging.getLogger(__name__)

# A change, as its old and new object, to the keys to reconcile.
Mapper = Callable[[Object | None, Object | None], Iterable[str]]

# How many seconds the reconcile of a key may wait after a change.
Delay = Callable[[str, Object | None, Object | None], float]

LAST_RECONCILES = 50
SHOWN_KEYS = 100


@dataclass(frozen=True, slots=True)
class ControllerContext:
    """What a controller is given. Its client acts as its own service account."""

    client: Client
    informers: InformerFactory
    world: World
    recorder: EventRecorder
    config: ClusterConfig


class RetryLaterError(Exception):
    """Raised by a reconcile that came too early: nothing failed, and the key is tried again after a back-off."""

    reason = "RetryLater"


class Controller:
    """Subclass it; see `engine.controllers.serviceaccount` for the smallest one."""

    name: ClassVar[str]  # of the controller and of its service account, as in `deployment-controller`
    kind: ClassVar[str]  # what its keys are, as spans name it: `deployment`
    event_source: ClassVar[str] = ""  # the component of its events, where that is not its name
    view: ClassVar[str] = ""  # what its view and spans call it, where several controllers share a service account
    workers: ClassVar[int] = 5
    max_retries: ClassVar[int | None] = None  # give a key up after so many failures; None never does

    def __init__(self, context: ControllerContext) -> None:
        self.client = context.client
        self.world = context.world
        self.clock = context.world.clock
        self.recorder = context.recorder
        self.config = context.config
        self.queue: WorkQueue[str] = WorkQueue(context.world.clock)
        self._informers = context.informers
        self._watched: list[SharedInformer] = []
        self._tasks = Supervisor(self.title)
        self._last: deque[Object] = deque(maxlen=LAST_RECONCILES)
        self._errors = 0
        self._reconciles = 0
        self.set_up()

    # -- what a subclass says

    @classmethod
    def is_needed(cls, config: ClusterConfig) -> bool:
        """Whether the cluster has what the controller works on: its version may not serve it."""
        return True

    def set_up(self) -> None:
        """Ask for informers, listers and indexes, and say with `watch` what wakes which key."""
        raise NotImplementedError

    async def reconcile(self, key: str) -> None:
        """Bring what is to what should be. What it raises is logged and the key tried again."""
        raise NotImplementedError

    def object_of(self, key: str) -> str:
        """What a key stands for, as spans name objects."""
        return f"{self.kind}/{key}"

    def is_moot(self, key: str) -> bool:
        """Whether a key that was woken needs no look after all; most controllers only know when they have looked."""
        return False

    def families(self) -> Iterable[Family]:
        """What /metrics tells of it besides its queue; most controllers keep no figures."""
        return ()

    async def run(self) -> None:
        """Periodic work besides the queue; most controllers have none."""

    # -- what a subclass uses

    @property
    def title(self) -> str:
        return self.view or self.name

    @property
    def _metrics_view(self) -> str:
        return f"workqueue/{self.title}/metrics"

    def lister(self, resource: GVR) -> Lister:
        """Read a resource from the cache; it is synced before the first reconcile."""
        return self._informer(resource).lister

    def index(self, resource: GVR, name: str, function: Callable[[Object], Iterable[str]]) -> None:
        self._informer(resource).add_index(name, function)

    def watch(self, resource: GVR, mapper: Mapper, *, delay: Delay | None = None) -> None:
        """Reconcile the keys that `mapper` gives for every change of a resource, `delay` seconds later."""

        def handler(old: Object | None, new: Object | None, origin: Origin) -> None:
            for key in mapper(old, new):
                if delay is None:
                    self.queue.add(key, origin)
                else:
                    self.queue.add_after(key, delay(key, old, new), origin)

        self._informer(resource).add_handler(handler, each_object=True)

    def unwatch(self, resource: GVR) -> None:
        """Follow a resource no longer, which nobody serves any more."""
        informer = self._informers.forget(resource)
        if informer is not None:
            self._watched = [each for each in self._watched if each is not informer]
            self._tasks.spawn(informer.stop(), f"stop {resource.group_resource}")

    def start_informers(self) -> None:
        """Start informers that were asked for after the controller itself was started."""
        self._informers.start()

    def note(self, *, desired: Any, actual: Any) -> None:
        """Show what this reconcile wants and what it found, on its span and in the controller's view."""
        if (span := current_span()) is not None:
            span.detail["desired"] = desired
            span.detail["actual"] = actual

    def _informer(self, resource: GVR) -> SharedInformer:
        informer = self._informers.informer(resource)
        if informer not in self._watched:
            self._watched.append(informer)
        return informer

    # -- life

    def start(self) -> None:
        """Work as soon as the caches are synced, until `stop`."""
        self.world.views.offer(f"controllers/{self.title}", self._look)
        self.world.views.offer(self._metrics_view, self._told)
        Context().run(self._spawn)

    def _told(self, _: object) -> list[dict[str, Any]]:
        own = [family.to_json() for family in self.families()]
        return [*self.queue.metrics.families(queue_name(self.title)), *own]

    def _spawn(self) -> None:
        for number in range(1, self.workers + 1):
            self._tasks.spawn(self._worker(), f"worker {number}")
        self._tasks.spawn(self._run(), "run")

    async def stop(self) -> None:
        self.world.views.withdraw(f"controllers/{self.title}")
        self.world.views.withdraw(self._metrics_view)
        self.queue.shut_down()
        await self._tasks.close()
        await self.recorder.close()

    async def _run(self) -> None:
        await self._synced()
        await self.run()

    async def _synced(self) -> None:
        """One that is given up before it has synced (`unwatch`) keeps nobody waiting."""
        for informer in list(self._watched):
            await informer.wait_for_sync()

    async def _worker(self) -> None:
        await self._synced()
        while True:
            try:
                key, origins = await self.queue.get()
            except QueueShutDownError:
                return
            try:
                if not self.is_moot(key):
                    await self._process(key, origins)
            finally:
                self.queue.done(key)

    async def _process(self, key: str, origins: list[Origin]) -> None:
        """One reconcile in its span (hop 9), a child of what first woke it."""
        failure: Exception | None = None
        revisions = woken_by(origins)
        with self.world.tracer.span(
            Hop.CONTROLLER,
            component=self.title,
            verb="reconcile",
            object=self.object_of(key),
            cause=first_cause(origins),
            revision=revisions[0] if revisions else 0,
            woken_by=revisions,
        ) as span:
            await self.world.latency.pause("controller")
            try:
                await self.reconcile(key)
            except Exception as error:
                failure = error
                span.outcome = getattr(error, "reason", None) or type(error).__name__
                span.detail["error"] = str(error)
        self._settle(key, origins, failure)
        self._remember(key, span)

    def _settle(self, key: str, origins: list[Origin], failure: Exception | None) -> None:
        self._reconciles += 1
        if failure is None:
            self.queue.forget(key)
            return
        if isinstance(failure, RetryLaterError):
            log.debug("%s: %s: %s", self.title, key, failure)
            self.queue.add_rate_limited(key, *origins)
            return
        self._errors += 1
        if self.max_retries is not None and self.queue.num_requeues(key) >= self.max_retries:
            log.error("%s: dropping %s out of the queue: %s", self.title, key, failure)
            self.queue.forget(key)
            return
        if isinstance(failure, ApiError | ConnectionError):
            log.info("%s: error syncing %s: %s", self.title, key, failure)
        else:
            log.error("%s: error syncing %s", self.title, key, exc_info=failure)
        self.queue.add_rate_limited(key, *origins)

    # -- looking

    def _remember(self, key: str, span: Span) -> None:
        self._last.append(
            {
                "key": key,
                "object": span.object,
                "start": span.start,
                "trace": span.trace_id,
                "span": span.id,
                "wokenBy": list(span.woken_by),
                "wall_ms": round(span.wall_ms, 3),
                "model_ms": round(span.model_ms, 3),
                "outcome": span.outcome,
                **span.detail,
            }
        )

    def _look(self, parameters: Mapping[str, str]) -> Any:
        """The view `controllers/NAME`; newest reconciles first, `last` of them."""
        last = parameters.get("last", "")
        most = int(last) if last.isascii() and last.isdigit() else len(self._last)
        waiting = self.queue.waiting()
        return {
            "name": self.title,
            "workers": self.workers,
            "queue": {
                "depth": len(self.queue),
                "inFlight": len(self.queue.processing()),
                "adds": self.queue.metrics.adds,
                "retries": self.queue.metrics.retries,
                "queued": self.queue.queued()[:SHOWN_KEYS],
                "processing": self.queue.processing(),
                "waiting": [
                    {"key": key, "seconds": round(seconds, 3), "retries": self.queue.num_requeues(key)}
                    for key, seconds in list(waiting.items())[:SHOWN_KEYS]
                ],
            },
            "reconciles": self._reconciles,
            "errors": self._errors,
            "last": [{**each, "start": _stamp(each["start"])} for each in islice(reversed(self._last), most)],
        }


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")[:26] + "Z"
