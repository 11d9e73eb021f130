"""The reflector: keeps a sink equal to a resource (client-go tools/cache reflector.go).

It takes the state from a watch that begins with all there is and goes on with what changes; where a server refuses that
it lists, from whatever the watch cache has, and watches from there. It goes on from the last version it saw when a
watch ends, and takes the state anew with a back-off when that version is gone (410) or anything breaks.
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
from engine.client.pager import PAGE_SIZE, list_pages
from engine.client.watch_list import State, initial_state
from engine.client.watch_stream import VeryShortWatchError, WatchStream
from engine.world import World

log = logging.getLogger(__name__)

# The server ends a watch after a random time between this and twice this, so that clients do not come all at once.
MIN_WATCH_TIMEOUT = 300.0


class Sink(Protocol):
    """What a reflector feeds."""

    def replace(self, items: list[Object], causes: Mapping[str, str]) -> None:
        """`causes`: the traceparents of the newest objects, by resourceVersion."""

    def apply(self, event: WatchEvent) -> None: ...


class Reflector:
    """The state and the changes of one resource, of one namespace and selector where given."""

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
        self.last_version = ""  # of the last state or event that the sink has seen
        self.lists = 0  # how often the whole state was taken
        self.watches = 0
        self._client = client
        self._clock = world.clock
        self._rng = world.rng.stream(f"reflector/{client.user_agent}/{resource.group_resource}")
        self._sink = sink
        self._namespace = namespace
        self._label_selector = label_selector
        self._field_selector = field_selector
        self._version_unavailable = False
        self._paginated = False  # whether the first list came in pages: then there is no watch cache to spare
        self._backoff = Backoff(self._clock, self._rng, initial=0.8, maximum=30.0, jitter=1.0, reset_after=120.0)

    async def run(self) -> None:
        """Reflect until cancelled."""
        while True:
            try:
                await self._watch(await self._state())
            except (ApiError, ConnectionError, VeryShortWatchError) as error:
                level = logging.INFO if _expired(error) else logging.WARNING
                log.log(level, "failed to list or watch %s: %s", self.resource.group_resource, error)
            await self._clock.sleep(self._backoff.next())

    # -- the state

    async def _state(self) -> WatchStream | None:
        """Take the whole state; returns the stream that goes on from there, where there is one."""
        try:
            return await self._watch_list()
        except (ApiError, ConnectionError, VeryShortWatchError) as error:
            # To make progress is better than to insist.
            log.warning("%s: the watch-list ended with an error, listing: %s", self.resource.group_resource, error)
        await self._list()
        return None

    async def _watch_list(self) -> WatchStream:
        """The state from a watch's initial events, at a version not older than what was seen before."""
        while True:
            stream: WatchStream | None = None
            state: State | None = None
            wanted = "" if self._version_unavailable else self.last_version
            try:
                stream = await self._open(wanted, initial=True)
                state = await initial_state(stream, self._clock)
            except (ApiError, ConnectionError) as error:
                if _retriable(error):
                    await self._clock.sleep(self._backoff.next())
                elif wanted and (_expired(error) or _too_new(error)):
                    self._version_unavailable = True
                else:
                    raise
            finally:
                if stream is not None and state is None:
                    await stream.aclose()
            if stream is not None and state is not None:
                self._take_state(state)
                return stream

    async def _list(self) -> None:
        """List at a version not older than what was seen before; where that is not to be had, at the newest."""
        wanted = "" if self._version_unavailable else self.last_version or "0"
        # A limit would lead past the watch cache, which a version but "0" is to be had from without one.
        page_size = 0 if wanted not in ("", "0") and not self._paginated else PAGE_SIZE
        try:
            found, paginated = await list_pages(self._page, resource_version=wanted, page_size=page_size)
        except ApiError as error:
            if not (_expired(error) or _too_new(error)):
                raise
            self._version_unavailable = True
            found, paginated = await list_pages(self._page, resource_version="")
        self._paginated = self._paginated or (wanted == "0" and paginated)
        self._take_state(State(_typed(found), found.resource_version, dict(found.causes)))

    async def _page(self, *, resource_version: str | None, limit: int, continue_: str) -> ObjectList:
        return await self._client.list(
            self.resource,
            namespace=self._namespace,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            resource_version=resource_version,
            limit=limit,
            continue_=continue_,
        )

    def _take_state(self, state: State) -> None:
        self.lists += 1
        self._version_unavailable = False
        self._sink.replace(state.items, state.causes)
        self.last_version = state.resource_version

    # -- the changes

    async def _watch(self, stream: WatchStream | None) -> None:
        """Follow the changes, one watch after another. Raises what asks for a new state."""
        while True:
            try:
                stream = stream or await self._open(self.last_version)
                await self._follow(stream)
            except (ApiError, ConnectionError) as error:
                if not _retriable(error):
                    raise
                await self._clock.sleep(self._backoff.next())
            stream = None

    async def _follow(self, stream: WatchStream) -> None:
        """One watch until it ends."""
        try:
            async for event in stream:
                if event.type != "BOOKMARK":
                    self._sink.apply(event)
                self.last_version = event.object["metadata"]["resourceVersion"]
        finally:
            await stream.aclose()

    async def _open(self, version: str, *, initial: bool = False) -> WatchStream:
        began = self._clock.monotonic()
        watch = await self._client.watch(
            self.resource,
            namespace=self._namespace,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            resource_version=version,
            allow_bookmarks=True,
            send_initial_events=initial,
            timeout_seconds=int(MIN_WATCH_TIMEOUT * (1 + self._rng.random())),
        )
        self.watches += 1
        return WatchStream(watch, self._clock, began=began)


def _retriable(error: Exception) -> bool:
    """A server that is not there, or busy: what was asked for is asked again (isWatchErrorRetriable)."""
    return isinstance(error, ConnectionRefusedError) or (isinstance(error, ApiError) and error.code == 429)


def _expired(error: Exception) -> bool:
    """410 Gone under either of its reasons: a version that is no longer kept."""
    return isinstance(error, ApiError) and (error.code == 410 or error.reason in ("Expired", "Gone"))


def _too_new(error: Exception) -> bool:
    """The server has not reached this version (a store that went back), in the words of any version of it
    (isTooLargeResourceVersionError)."""
    if not isinstance(error, ApiError):
        return False
    causes = (error.details or {}).get("causes") or ()
    if any(cause.get("reason") == "ResourceVersionTooLarge" for cause in causes):
        return True
    texts = (error.message, *(cause.get("message", "") for cause in causes))
    return error.reason == "Timeout" and any("Too large resource version" in text for text in texts)


def _typed(found: ObjectList) -> list[Object]:
    """The items with kind and apiVersion, which a list leaves to its own."""
    kind = found.kind.removesuffix("List")
    if not kind:
        return found.items
    head = {"kind": kind, "apiVersion": found.api_version}
    return [item if item.get("kind") else {**head, **item} for item in found.items]
