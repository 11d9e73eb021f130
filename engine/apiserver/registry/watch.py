"""watch (apiserver pkg/endpoints/handlers/watch.go, pkg/storage/cacher/cacher.go).

A watch without a resourceVersion, or from 0, begins with the state as it is; with `sendInitialEvents` a bookmark says
where that ends. One from a revision begins with what came after it, or with an ERROR event of 410 if that is forgotten.
"""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.api.wire import EventStream, WatchEvent
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.registry.conversion import from_storage
from engine.apiserver.registry.options import ListOptions
from engine.apiserver.registry.selection import Selection, select
from engine.apiserver.streams import FixedEvents, MappedEvents
from engine.apiserver.watch_cache import WatchCache
from engine.apiserver.watcher import Interest

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
# --min-request-timeout: a watch that names no time ends after one to two times so many seconds.
MIN_REQUEST_TIMEOUT = 1800.0


class WatchOpener:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def open(self, call: Call) -> EventStream:
        info = call.gvr_resource
        options = ListOptions.of(call.request, watching=True)
        selection = select(info, call.info.namespace, call.request)
        cache = await self._backend.caches.started(info)
        interest = _interest(call, selection, options)
        initial, after = await self._begin(cache, selection, options, interest)
        try:
            watcher = cache.watch(interest, after=after, initial=initial)
        except ApiError as error:
            return FixedEvents([WatchEvent("ERROR", error.status)])
        seconds = options.timeout or MIN_REQUEST_TIMEOUT * (1 + self._backend.times.random())
        watcher.end_after(seconds, lambda: cache.revision)
        return watcher if info.storage_gvk == info.gvk else MappedEvents(watcher, lambda event: _converted(info, event))

    async def _begin(
        self, cache: WatchCache, selection: Selection, options: ListOptions, interest: Interest
    ) -> tuple[list[WatchEvent], int]:
        """The events to begin with, and the revision to go on after."""
        asked = options.resource_version
        if options.initial_events is False and asked in (None, 0):
            return [], cache.revision
        if asked and not options.initial_events:
            return [], asked
        if asked == 0:
            state, revision = list(cache.objects(selection.namespace, selection.node)), cache.revision
        else:
            state, revision = await self._state(cache, selection)
        initial = [
            WatchEvent("ADDED", obj, int(obj["metadata"]["resourceVersion"])) for obj in state if interest.wants(obj)
        ]
        if options.initial_events:
            end = bookmark(selection.info, revision)
            end["metadata"]["annotations"] = {INITIAL_EVENTS_END: "true"}
            initial.append(WatchEvent("BOOKMARK", end, revision))
        return initial, revision

    async def _state(self, cache: WatchCache, selection: Selection) -> tuple[list[Object], int]:
        """The newest state of the store: that of the cache if it has seen all of it."""
        current = self._backend.storage.store.revision
        if cache.revision >= current:
            return list(cache.objects(selection.namespace, selection.node)), cache.revision
        page = await self._backend.storage.page(selection.info, selection.namespace, stored=True)
        return [obj for _, obj in page.items], page.revision


def _converted(info: ResourceInfo, event: WatchEvent) -> WatchEvent:
    """An event of the stored version in the version of the request."""
    if event.type in ("BOOKMARK", "ERROR"):
        return event
    return WatchEvent(event.type, from_storage(info, event.object), event.revision, event.cause)


def _interest(call: Call, selection: Selection, options: ListOptions) -> Interest:
    info = selection.info
    selector = {}
    if not selection.labels.empty:
        selector["labels"] = str(selection.labels)
    if not selection.fields.empty:
        selector["fields"] = str(selection.fields)
    only_node = selection.node is not None and selection.labels.empty and len(selection.fields.requirements) == 1
    return Interest(
        namespace=selection.namespace,
        node=selection.node,
        matches=selection.matches
        if info.storage_gvk == info.gvk
        else lambda obj: selection.matches(from_storage(info, obj)),
        selective=selection.selective and not only_node,
        bookmarks=options.bookmarks,
        bookmark=lambda revision: bookmark(info, revision),
        who=call.user.name,
        user_agent=call.request.headers.get("user-agent", ""),
        selector=selector,
    )


def bookmark(info: ResourceInfo, revision: int) -> Object:
    return {
        "kind": info.kind,
        "apiVersion": info.gvr.api_version,
        "metadata": {"resourceVersion": str(revision), "creationTimestamp": None},
    }
