"""watch (apiserver pkg/endpoints/handlers/watch.go, pkg/storage/cacher/cacher.go).

A watch without a resourceVersion, from 0, or with `sendInitialEvents` begins with the state as it is, and who allows
bookmarks is told where that ends. One from a revision begins with what came after it, or with an ERROR event: of 410 if
that is forgotten, of 504 for a state that is still to come.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import partial

import orjson

from engine.api.crd.version import CustomVersion
from engine.api.errors import ApiError
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.api.wire import PROTOBUF, EventStream, WatchEvent
from engine.apiserver.backend import Backend
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.cacher.watcher import Interest
from engine.apiserver.call import Call
from engine.apiserver.causes import name_causes
from engine.apiserver.changes import with_resource_version
from engine.apiserver.customresources.webhook import ConvertedEvents, WebhookConverter
from engine.apiserver.protobuf import Encoder
from engine.apiserver.registry.conversion import from_storage
from engine.apiserver.registry.options import ListOptions
from engine.apiserver.registry.representation import negotiate_stream, takes_json
from engine.apiserver.registry.selection import Selection, select
from engine.apiserver.streams import FixedEvents, MappedEvents
from engine.clock import wall
from engine.metrics import Distribution

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
LIST_BLUEPRINT = "kubernetes.io/initial-events-list-blueprint"
# --min-request-timeout: a watch that names no time ends after one to two times so many seconds.
MIN_REQUEST_TIMEOUT = 1800.0
WATCH_LIST_BUCKETS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60)
_LATE_BUCKETS, _LATE_SINCE = (90, 120, 180, 300), (1, 37)


class WatchOpener:
    def __init__(self, backend: Backend, encoder: Encoder) -> None:
        self._backend = backend
        self._encoder = encoder

    async def open(self, call: Call) -> EventStream:
        """Raises ApiError 400, 422, 500, and 429 while there are objects that cannot be read or converted."""
        began = wall()
        info = call.gvr_resource
        options = ListOptions.of(call.request, watching=True)
        selection = select(info, call.info.namespace, call.request, name=call.info.name)
        options = options.when()
        cache = await self._backend.caches.started(info)
        cache.unreadable.check()
        if info.converts:
            await self._backend.storage.prepare_cached(info, selection.candidates(cache))
        interest = _interest(call, selection, options)
        try:
            accept = call.request.headers.get("accept", "")
            initial, after = await self._begin(cache, selection, options, interest, accept)
            if after < cache.ring.oldest:
                await cache.reach_back(after)
            watcher = cache.watch(interest, after=after, initial=initial)
        except ApiError as error:
            return FixedEvents([WatchEvent("ERROR", error.status)])
        if call.request.in_process and initial:
            await name_causes(self._backend.storage.store, initial)
        if options.lists:
            late = _LATE_BUCKETS if info.release >= _LATE_SINCE else ()
            lists = cache.watch_lists.setdefault(interest.scope, Distribution(WATCH_LIST_BUCKETS + late))
            watcher.when_state_is_told(lambda: lists.observe(wall() - began))
        seconds = options.timeout or MIN_REQUEST_TIMEOUT * (1 + self._backend.times.random())
        watcher.end_after(seconds, cache.bookmark)
        if not info.converts:
            return watcher
        if _by_webhook(info) and isinstance(converter := self._backend.storage.converter, WebhookConverter):
            selective = selection.selective
            return ConvertedEvents(
                watcher, converter, info, change=lambda event: _selected(selection, event), selective=selective
            )
        return MappedEvents(watcher, lambda event: _converted(info, event))

    async def _begin(
        self, cache: WatchCache, selection: Selection, options: ListOptions, interest: Interest, accept: str
    ) -> tuple[list[WatchEvent], int]:
        """The events to begin with, and the revision to go on after; the cache is not left in between.

        Raises ApiError 504.
        """
        newest = self._backend.storage.store.revision
        asked = options.resource_version
        if not options.initial_events:
            return [], newest if asked is None else asked or cache.revision
        await cache.freshness.wait_for(newest if asked is None else asked)
        revision = cache.revision
        candidates = list(selection.candidates(cache))
        cache.initial_events += len(candidates)
        initial = [
            WatchEvent("ADDED", obj, int(obj["metadata"]["resourceVersion"]))
            for obj in candidates
            if interest.wants(obj)
        ]
        if options.bookmarks:
            end = bookmark(selection.info, revision)
            end["metadata"]["annotations"] = {
                INITIAL_EVENTS_END: "true",
                LIST_BLUEPRINT: list_blueprint(selection.info, accept, self._encoder),
            }
            initial.append(WatchEvent("BOOKMARK", end, revision))
        return initial, revision


def _converted(info: ResourceInfo, event: WatchEvent) -> WatchEvent:
    """An event of the stored version in the version of the request."""
    if event.type in ("BOOKMARK", "ERROR"):
        return event
    if event.type == "DELETED" and event.old is not None:  # conversions are known by their revision: not this event's
        converted = with_resource_version(from_storage(info, event.old), event.revision)
    else:
        converted = from_storage(info, event.object)
    return event if converted is event.object else WatchEvent(event.type, converted, event.revision, event.cause)


def _selected(selection: Selection, event: WatchEvent) -> WatchEvent | None:
    """What an event is to a watch whose selectors look at what a webhook has made of the object."""
    info = selection.info
    if not selection.selective:
        return _converted(info, event)
    now = event.type != "DELETED" and _matches(selection, event.object)
    before = event.old is not None and _matches(selection, event.old)
    if not now and not before:
        return None
    kind = ("MODIFIED" if before else "ADDED") if now else "DELETED"
    return _converted(info, WatchEvent(kind, event.object, event.revision, event.cause, event.old))


def _by_webhook(info: ResourceInfo) -> bool:
    return isinstance(info.extension, CustomVersion) and info.extension.webhook is not None


def _matches(selection: Selection, stored: Object) -> bool:
    return selection.matches(from_storage(selection.info, stored))


def _named(name: str | None, obj: Object) -> bool:
    return name is None or obj["metadata"]["name"] == name


def _interest(call: Call, selection: Selection, options: ListOptions) -> Interest:
    info = selection.info
    selector = {}
    if not selection.labels.empty:
        selector["labels"] = str(selection.labels)
    if not selection.fields.empty:
        selector["fields"] = str(selection.fields)
    only_node = selection.node is not None and selection.labels.empty and len(selection.fields.requirements) == 1
    selective = selection.selective and not only_node
    matches: Callable[[Object], bool] = selection.matches
    if _by_webhook(info):  # what is selected shows when it is converted; names stay the same
        selective, matches = selection.name is not None, partial(_named, selection.name)
    elif info.converts:
        matches = partial(_matches, selection)
    return Interest(
        namespace=selection.namespace,
        node=selection.node,
        name=selection.name,
        matches=matches,
        selective=selective,
        bookmarks=options.bookmarks,
        bookmark=lambda revision: bookmark(info, revision),
        who=call.user.name,
        user_agent=call.request.headers.get("user-agent", ""),
        selector=selector,
    )


def list_blueprint(info: ResourceInfo, accept: str, encoder: Encoder) -> str:
    """The list that a client makes of the initial events, still empty, in the form that it asks for
    (handlers/response.go watchListTransformer)."""
    form = negotiate_stream(accept, typed=not info.custom)
    empty: Object
    if form.kind == "PartialObjectMetadata":
        empty = {"kind": "PartialObjectMetadataList", "apiVersion": form.api_version, "metadata": {}, "items": []}
    elif info.custom:
        empty = {"apiVersion": info.gvr.api_version, "items": [], "kind": info.list_kind}
    else:
        empty = {"kind": info.list_kind, "apiVersion": info.gvr.api_version, "metadata": {}, "items": None}
    if form.media_type == PROTOBUF and not takes_json(accept):
        return b64encode(encoder.encode(empty)).decode()
    return b64encode(orjson.dumps(empty, option=orjson.OPT_APPEND_NEWLINE)).decode()


def bookmark(info: ResourceInfo, revision: int) -> Object:
    return {
        "kind": info.kind,
        "apiVersion": info.gvr.api_version,
        "metadata": {"resourceVersion": str(revision)},
    }
