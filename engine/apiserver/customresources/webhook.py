"""Conversion of custom resources by their author's webhook: ConversionReview over HTTPS.

What a watch or list shows is made of stored objects one by one; their conversions are asked for beforehand, in
one request for many, and kept by the version that they are for. Upstream's storage converts as it decodes, one object
after another: what a webhook fails at cannot be read, and is told of as what is corrupt (since 1.37, KEP-3926). Source
of the behaviour: apiextensions-apiserver pkg/apiserver/conversion/webhook_converter.go, apiserver pkg/util/webhook.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

from engine.api.crd.conversion_reviews import ConversionError, accepted, answered, review
from engine.api.crd.version import CustomVersion
from engine.api.errors import ApiError
from engine.api.resources import ResourceInfo
from engine.api.types import GVK, Object
from engine.api.wire import EventStream, Metered, WatchEvent
from engine.apiserver.corrupt_objects import Unconverted
from engine.apiserver.lookup import Lookup
from engine.apiserver.webhook_client import WebhookClient, WebhookError
from engine.apiserver.webhook_reviews import CONVERSION_REVIEW
from engine.rng import Rng

_TIMEOUT = 30  # seconds on this machine's clock: the webhook is no part of the model


class _Unanswered(Exception):
    """The webhook could not be asked: it would be no better to ask for each object alone."""


class WebhookConverter:
    def __init__(self, lookup: Lookup, uids: Rng) -> None:
        self._client = WebhookClient(lookup)
        self._uids = uids

    async def prepare(self, info: ResourceInfo, stored: Sequence[Object]) -> list[Unconverted]:
        """Convert stored objects to the version of a resource, where a webhook must; those that it does not convert."""
        version = info.extension
        if not isinstance(version, CustomVersion) or version.webhook is None:
            return []
        foreign = [obj for obj in stored if not version.known(obj)]
        if not foreign:
            return []
        try:
            converted = await self._convert(version.webhook, [version.own(obj) for obj in foreign], info.gvk)
        except _Unanswered as error:
            return [Unconverted(obj, str(error)) for obj in foreign]
        except ConversionError as error:
            if len(foreign) == 1:
                return [Unconverted(foreign[0], str(error))]
            return [failed for obj in foreign for failed in await self.prepare(info, [obj])]
        for before, after in zip(foreign, converted, strict=True):
            version.keep(before, after)
        return []

    async def to_storage(self, info: ResourceInfo, obj: Object) -> Object:
        """An object in the version that is stored. Raises ApiError 500."""
        return obj if info.storage_gvk == info.gvk else await self.convert(info, obj, info.storage_gvk)

    def asks(self, info: ResourceInfo) -> bool:
        """Whether it is a webhook that converts to the version of a resource."""
        return isinstance(info.extension, CustomVersion) and info.extension.webhook is not None

    async def convert(self, info: ResourceInfo, obj: Object, target: GVK) -> Object:
        """An object of a kind in another of its versions; `info` is that of any. Raises ApiError 500."""
        version = info.extension
        if not isinstance(version, CustomVersion) or version.webhook is None:
            return obj
        try:
            (converted,) = await self._convert(version.webhook, [obj], target)
        except (_Unanswered, ConversionError) as error:
            raise ApiError(500, "", str(error)) from None
        return converted

    async def _convert(self, webhook: Object, objects: Sequence[Object], target: GVK) -> list[Object]:
        """Raises _Unanswered and ConversionError, which say what was to be converted."""
        source = f"{objects[0]['apiVersion']}, Kind={objects[0]['kind']}"
        version = next(each for each in webhook["conversionReviewVersions"] if each in ("v1", "v1beta1"))
        uid = self._uids.uid()
        asked = review(version, uid, objects, target)
        try:
            answer = await self._client.post(webhook["clientConfig"], asked, timeout=_TIMEOUT, form=CONVERSION_REVIEW)
            converted = answered(answer, version, uid, len(objects))
            return [accepted(before, after, target) for before, after in zip(objects, converted, strict=True)]
        except WebhookError as error:
            raise _Unanswered(f"conversion webhook for {source} failed: {error}") from None
        except ConversionError as error:
            raise ConversionError(f"conversion webhook for {source} {error}") from None


class ConvertedEvents:
    """A watch of a version that a webhook makes: each object is converted before it is looked at and shown.

    It ends where one cannot be converted: who watches is not told how it changed, and must list again (cacher.go,
    terminateAllWatchers). `selective` says that `change`, which may drop an event, looks at the state before, too."""

    def __init__(
        self,
        source: EventStream,
        converter: WebhookConverter,
        info: ResourceInfo,
        *,
        change: Callable[[WatchEvent], WatchEvent | None],
        selective: bool,
    ) -> None:
        self._source = source
        self._iterator = source.__aiter__()
        self._converter = converter
        self._info = info
        self._change = change
        self._selective = selective

    def __aiter__(self) -> AsyncIterator[WatchEvent]:
        return self

    async def __anext__(self) -> WatchEvent:
        while True:
            event = await self._iterator.__anext__()
            if event.type in ("BOOKMARK", "ERROR"):
                return event
            if await self._converter.prepare(self._info, self._looked_at(event)):
                await self._source.aclose()
                raise StopAsyncIteration
            if (shown := self._change(event)) is not None:
                return shown

    def _looked_at(self, event: WatchEvent) -> list[Object]:
        if event.old is None:
            return [event.object]
        if event.type == "DELETED":
            return [event.old]
        return [event.old, event.object] if self._selective else [event.object]

    def count_bytes(self, size: int) -> None:
        if isinstance(self._source, Metered):
            self._source.count_bytes(size)

    async def aclose(self) -> None:
        await self._source.aclose()
