"""The reflector: keeps a sink equal to a resource by list and watch (client-go tools/cache reflector.go).

It lists at resourceVersion "0" (whatever the watch cache has), watches from there with bookmarks, goes on from the last
version it saw when a watch ends, and lists again with a back-off when that version is gone (410) or anything breaks.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Protocol

from engine.api.errors import ApiError
from engine.api.types import GVR, Object
from engine.api.wire import WatchEvent
from engine.client.backoff import Backoff
from engine.client.client import Client, ObjectList
from engine.world import World

log = logging.getLogger(__name__)

# The server ends a watch after a random time between this and twice this, so that clients do not come all at once.
MIN_WATCH_TIMEOUT = 300.0


class Sink(Protocol):
    """What a reflector feeds."""

    def replace(self, items: list[Object], causes: Mapping[str, str]) -> None:
        """`causes`: the traceparents of the newest objects, by resourceVersion."""

    def apply(self, event: WatchEvent) -> None: ...


class RelistError(Exception):
    """The watch cannot go on from where it was: list again."""


class Reflector:
    """List and watch of one resource, of one namespace and selector where given."""

    def __init__(
        self,
        client: Client,
        world: World,
        resource: GVR,
        sink: Sink,
        *,
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
    ) -> None:
        self.resource = resource
        self.last_version = ""  # of the last list or event that the sink has seen
        self.lists = 0
        self.watches = 0
        self._client = client
        self._clock = world.clock
        self._rng = world.rng.stream(f"reflector/{client.user_agent}/{resource.group_resource}")
        self._sink = sink
        self._namespace = namespace
        self._label_selector = label_selector
        self._field_selector = field_selector
        self._version_unavailable = False
        self._backoff = self._new_backoff()

    def _new_backoff(self) -> Backoff:
        return Backoff(self._clock, self._rng, initial=0.8, maximum=30.0, jitter=1.0, reset_after=120.0)

    async def run(self) -> None:
        """Reflect until cancelled."""
        while True:
            try:
                await self._list()
                await self._watch()
            except RelistError as error:
                log.info("%s: %s; listing again", self.resource.group_resource, error)
            except (ApiError, ConnectionError) as error:
                log.warning("failed to list or watch %s: %s", self.resource.group_resource, error)
            await self._clock.sleep(self._backoff.next())

    # -- list

    async def _list(self) -> None:
        """List at a version not older than what was seen before; where that is not to be had, at the newest."""
        wanted = "" if self._version_unavailable else self.last_version or "0"
        try:
            found = await self._list_at(wanted)
        except ApiError as error:
            if not (_expired(error) or _too_new(error)):
                raise
            self._version_unavailable = True
            found = await self._list_at("")
        self.lists += 1
        self._version_unavailable = False
        self._sink.replace(_typed(found), found.causes)
        self.last_version = found.resource_version

    async def _list_at(self, version: str) -> ObjectList:
        return await self._client.list(
            self.resource,
            namespace=self._namespace,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            resource_version=version or None,
        )

    # -- watch

    async def _watch(self) -> None:
        """Watch from the last version on, one watch after another. Raises what asks for a new list."""
        reopen = self._new_backoff()
        while True:
            began, version = self._clock.monotonic(), self.last_version
            try:
                await self._watch_once()
            except ConnectionError as error:
                log.info("watch of %s broke: %s", self.resource.group_resource, error)
                await self._clock.sleep(reopen.next())
                continue
            except ApiError as error:
                if error.code != 429:
                    raise
                await self._clock.sleep(reopen.next())
                continue
            if self._clock.monotonic() - began < 1.0 and self.last_version == version:
                raise RelistError("very short watch: unexpected watch close and no items received")

    async def _watch_once(self) -> None:
        """One watch until the server ends it."""
        timeout = MIN_WATCH_TIMEOUT * (1 + self._rng.random())
        stream = await self._client.watch(
            self.resource,
            namespace=self._namespace,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            resource_version=self.last_version,
            allow_bookmarks=True,
            timeout_seconds=int(timeout),
        )
        self.watches += 1
        async with stream:
            async for event in stream:
                self._take(event)

    def _take(self, event: WatchEvent) -> None:
        if event.type == "ERROR":
            error = ApiError.from_status(event.object)
            if _expired(error):
                # Not "unavailable": the list may still be served from a cache that is newer than the watch's window.
                raise RelistError(error.message)
            raise error
        if event.type != "BOOKMARK":
            self._sink.apply(event)
        self.last_version = event.object["metadata"]["resourceVersion"]


def _expired(error: ApiError) -> bool:
    """410 Gone under either of its reasons: a version that is no longer kept."""
    return error.code == 410 or error.reason in ("Expired", "Gone")


def _too_new(error: ApiError) -> bool:
    """The server has not reached this version (a store that went back); storage.NewTooLargeResourceVersionError."""
    causes = (error.details or {}).get("causes") or ()
    return any(cause.get("reason") == "ResourceVersionTooLarge" for cause in causes) or (
        "Too large resource version" in error.message
    )


def _typed(found: ObjectList) -> list[Object]:
    """The items with kind and apiVersion, which a list leaves to its own."""
    kind = found.kind.removesuffix("List")
    if not kind:
        return found.items
    head = {"kind": kind, "apiVersion": found.api_version}
    return [item if item.get("kind") else {**head, **item} for item in found.items]
