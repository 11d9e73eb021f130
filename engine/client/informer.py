"""The shared informer: one cache of a resource, fed by a reflector, and all who want to hear of changes
(client-go tools/cache shared_informer.go).

Handlers are called with `(old, new, origin)` in the order of the revisions: an addition has no old, a deletion no new.
They must return at once; what takes time goes through a work queue. Where a list shows that an object was deleted and
another made under its name, that is one change from the first to the second (processDeltas asks for keys alone); who
must know them apart, as upstream's controllers each see to by themselves, adds its handler with `each_object`: it is
told of the end of the one and of the beginning of the other.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextvars import Context
from typing import NamedTuple

from engine.api.types import GVR, Object
from engine.api.wire import WatchEvent
from engine.client.client import Client
from engine.client.indexer import Indexer, IndexFunc, object_key
from engine.client.lister import Lister
from engine.client.mutation_detector import MutationDetector
from engine.client.origin import Origin
from engine.client.reflector import Reflector
from engine.clock import Clock, Timer
from engine.tasks import Supervisor
from engine.world import World

log = logging.getLogger(__name__)

Handler = Callable[[Object | None, Object | None, Origin], None]

MINIMUM_RESYNC_PERIOD = 1.0


class StoppedInformerError(RuntimeError):
    """A handler was to be added to an informer that will tell nothing any more."""

    def __init__(self, handler: Handler) -> None:
        super().__init__(f"handler {handler!r} was not added to shared informer because it has stopped already")


class SharedInformer:
    """Start it once; add handlers and indexes before or after."""

    def __init__(
        self,
        client: Client,
        world: World,
        resource: GVR,
        *,
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
        detect_mutations: bool = False,
    ) -> None:
        self.resource = resource
        self._clock: Clock = world.clock
        self._indexer = Indexer()
        self._handlers: list[_Registration] = []
        self._synced = False
        self._settled = asyncio.Event()  # synced, or never to be
        self._detector = MutationDetector() if detect_mutations else None
        self._tasks = Supervisor(f"informer {client.user_agent} {resource.group_resource}")
        self._reflector = Reflector(
            client,
            world,
            resource,
            self,
            namespace=namespace,
            label_selector=label_selector,
            field_selector=field_selector,
        )
        self._started = False
        self._stopped = False
        self.lister = Lister(self._indexer)

    # -- what its users set up

    def add_handler(self, handler: Handler, *, resync: float = 0.0, each_object: bool = False) -> None:
        """Tell `handler` of all that is there and of all changes; with `resync` also of everything every so many
        seconds (one at the least), as a change from an object to itself. Raises StoppedInformerError."""
        if self._stopped:
            raise StoppedInformerError(handler)
        added = _Registration(handler, _Resync(self._clock, resync, lambda: self._resync(handler)), each_object)
        self._handlers.append(added)
        for obj in list(self._indexer.objects().values()):
            _call(handler, None, obj, Origin.of_object(obj))
        if self._started:
            added.resync.start()

    def remove_handler(self, handler: Handler) -> None:
        """Tell the handler nothing more, its resyncs neither."""
        for known in self._handlers:
            if known.handler == handler:
                known.resync.stop()
                self._handlers.remove(known)
                return

    def add_index(self, name: str, function: IndexFunc) -> None:
        self._indexer.add_index(name, function)

    # -- life

    def start(self) -> None:
        """Reflect until `stop`; a second call does nothing."""
        if self._started:
            return
        self._started = True
        # A context of its own: the reflector must not be taken for a part of whatever span is open now.
        Context().run(self._tasks.spawn, self._reflector.run(), "reflector")
        for known in self._handlers:
            known.resync.start()

    async def stop(self) -> None:
        self._stopped = True
        for known in self._handlers:
            known.resync.stop()
        await self._tasks.close()
        self._settled.set()
        if self._detector is not None:
            self._detector.check()

    @property
    def has_synced(self) -> bool:
        """Whether the first list has been handed to all handlers."""
        return self._synced

    async def wait_for_sync(self) -> bool:
        """Wait for that; False if the informer is stopped before (cache.WaitForCacheSync)."""
        await self._settled.wait()
        return self._synced

    @property
    def version(self) -> str:
        """The resourceVersion up to which the cache has seen everything; "" before the first list."""
        return self._reflector.last_version

    def status(self) -> Object:
        """For the view of informers."""
        return {
            "resource": self.resource.group_resource,
            "objects": len(self._indexer),
            "handlers": len(self._handlers),
            "synced": self.has_synced,
            "resourceVersion": self.version,
            "lists": self._reflector.lists,
            "watches": self._reflector.watches,
        }

    # -- the reflector's sink

    def replace(self, items: list[Object], causes: Mapping[str, str]) -> None:
        """A fresh list: the difference to the cache is told, so that a relist loses no event and doubles none. What has
        not changed counts as a resync, for those handlers that want any."""
        fresh = {object_key(obj): obj for obj in items}
        for key in [key for key in self._indexer.objects() if key not in fresh]:
            self._delete(key, None)
        for key, obj in fresh.items():
            old = self._indexer.get(key)
            if old is None or _version(old) != _version(obj):
                self._set(key, obj, Origin.of_object(obj, causes.get(_version(obj), "")))
            else:
                self._tell_again(old)
        self._synced = True
        self._settled.set()

    def apply(self, event: WatchEvent) -> None:
        key = object_key(event.object)
        if event.type == "DELETED":
            self._delete(key, event)
        else:
            self._set(key, event.object, Origin.of_event(event))

    def _set(self, key: str, obj: Object, origin: Origin) -> None:
        if self._detector is not None:
            self._detector.remember(key, obj)
        self._tell(self._indexer.put(key, obj), obj, origin)

    def _delete(self, key: str, event: WatchEvent | None) -> None:
        """Handlers get the object as it last was; that of the event where there is one."""
        if self._detector is not None:
            self._detector.forget(key)
        old = self._indexer.pop(key)
        last = event.object if event is not None else old
        if last is not None:
            self._tell(last, None, Origin.of_event(event) if event is not None else Origin())

    def _tell(self, old: Object | None, new: Object | None, origin: Origin) -> None:
        another = old is not None and new is not None and old["metadata"].get("uid") != new["metadata"].get("uid")
        for handler, _, each_object in list(self._handlers):
            try:  # as `_call`: each change of a Pod has some twenty handlers
                if another and each_object:
                    handler(old, None, origin)
                    handler(None, new, origin)
                else:
                    handler(old, new, origin)
            except Exception:
                log.exception("an informer's handler failed")

    def _tell_again(self, obj: Object) -> None:
        for known in list(self._handlers):
            if known.resync.wanted:
                _call(known.handler, obj, obj, Origin())

    def _resync(self, handler: Handler) -> None:
        for obj in list(self._indexer.objects().values()):
            _call(handler, obj, obj, Origin())


class _Resync:
    """Rings every so many seconds; never for zero."""

    def __init__(self, clock: Clock, seconds: float, ring: Callable[[], None]) -> None:
        if 0 < seconds < MINIMUM_RESYNC_PERIOD:
            log.info("a resync period of %s s is too small: it is made %s s", seconds, MINIMUM_RESYNC_PERIOD)
            seconds = MINIMUM_RESYNC_PERIOD
        self._clock = clock
        self._seconds = seconds
        self._ring = ring
        self._timer: Timer | None = None

    @property
    def wanted(self) -> bool:
        return self._seconds > 0

    def start(self) -> None:
        if self.wanted:
            self._timer = self._clock.call_later(self._seconds, self._fire)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self.start()  # first: what is rung may stop it
        self._ring()


class _Registration(NamedTuple):
    handler: Handler
    resync: _Resync
    each_object: bool


def _version(obj: Object) -> str:
    return str(obj["metadata"].get("resourceVersion", ""))


def _call(handler: Handler, old: Object | None, new: Object | None, origin: Origin) -> None:
    """One handler's failure is its own: the others and the cache go on (client-go's processor does the same)."""
    try:
        handler(old, new, origin)
    except Exception:
        log.exception("an informer's handler failed")
