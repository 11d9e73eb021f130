"""The requests of one namespace that are to be booked on its quotas: all that wait are booked with one write a quota.

Source: apiserver pkg/admission/plugin/resourcequota (controller.go checkQuotas, resource_access.go). Each for itself
they would be in one another's way: of many at once all but a few would find the quota changed, again and again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from engine.api.errors import ApiError, conflict
from engine.api.quota.extended_resources import ExtendedResources
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.apiserver.admission.attributes import Attributes
from engine.apiserver.admission.quota_checks import booked, concerns_object
from engine.apiserver.storage import Storage
from engine.trace import current_span

_ATTEMPTS = 4
_AT_ONCE = 50  # that are booked before others have their turn
_REMEMBERED = 100  # quotas, as this server wrote them last


class QuotaEvaluation:
    def __init__(self, storage: Storage, quotas: ResourceInfo) -> None:
        self._storage = storage
        self._info = quotas
        self._waiting: dict[str, list[_Waiter]] = {}  # by namespace
        self._locks: dict[str, asyncio.Lock] = {}
        self._written: dict[tuple[str, str], Object] = {}

    async def evaluate(
        self, attributes: Attributes, known: Iterable[Object], extended: ExtendedResources | None = None
    ) -> None:
        """Book a request on the quotas of its namespace, of which `known` is the state. Raises ApiError 403, 409."""
        namespace = attributes.namespace
        waiter = _Waiter(attributes, extended)
        self._waiting.setdefault(namespace, []).append(waiter)
        lock = self._locks.setdefault(namespace, asyncio.Lock())
        try:
            async with lock:
                while not waiter.done:  # whoever was before has not taken it along
                    waiting = self._waiting[namespace]
                    batch, waiting[:] = waiting[:_AT_ONCE], waiting[_AT_ONCE:]
                    await self._evaluate_all(namespace, batch, known)
        finally:
            self._leave(namespace, waiter, lock)
        if waiter.refusal is not None:
            raise waiter.refusal

    def _leave(self, namespace: str, waiter: _Waiter, lock: asyncio.Lock) -> None:
        waiting = self._waiting.get(namespace, [])
        if waiter in waiting:  # it gives up
            waiting.remove(waiter)
        if not waiting and not lock.locked():
            self._waiting.pop(namespace, None)
            self._locks.pop(namespace, None)

    async def _evaluate_all(self, namespace: str, waiting: list[_Waiter], known: Iterable[Object]) -> None:
        try:
            quotas = [self._newest(quota) for quota in known]
            for _ in range(_ATTEMPTS):
                changed = _book(quotas, waiting)
                failed = [quota for quota in changed if not await self._write(quota)]
                if not failed:
                    for waiter in waiting:
                        waiter.done = True
                    return
                quotas = [newest for quota in failed if (newest := await self._read(quota)) is not None]
            for waiter in waiting:
                waiter.refuse(conflict(self._info.gvr, failed[-1]["metadata"]["name"]))
        finally:
            if left := [waiter for waiter in waiting if not waiter.done]:  # by a failure that is nobody else's
                self._waiting.setdefault(namespace, []).extend(left)

    def _newest(self, quota: Object) -> Object:
        """As this server wrote it last, where the cache has not seen that yet."""
        key = quota["metadata"]["namespace"], quota["metadata"]["name"]
        written = self._written.get(key)
        if written is None or _version(written) <= _version(quota):
            self._written.pop(key, None)
            return quota
        return written

    async def _write(self, quota: Object) -> bool:
        """Whether nobody else has changed it."""
        metadata = quota["metadata"]
        key = metadata["namespace"], metadata["name"]
        span = current_span()
        cause = span.traceparent if span is not None else ""
        stored = await self._storage.replace(self._info, *key, quota, expected=_version(quota), cause=cause)
        if stored is None:
            return False
        self._written.pop(key, None)
        self._written[key] = stored
        if len(self._written) > _REMEMBERED:
            del self._written[next(iter(self._written))]
        return True

    async def _read(self, quota: Object) -> Object | None:
        metadata = quota["metadata"]
        newest = await self._storage.get(self._info, metadata["namespace"], metadata["name"])
        return newest.object if newest is not None else None


class _Waiter:
    """A request; it is done when it is known whether it may go on."""

    def __init__(self, attributes: Attributes, extended: ExtendedResources | None) -> None:
        self.attributes = attributes
        self.extended = extended
        self.done = False
        self.refusal: ApiError | None = None

    def refuse(self, why: ApiError) -> None:
        if not self.done:
            self.done, self.refusal = True, why


def _book(quotas: list[Object], waiting: list[_Waiter]) -> list[Object]:
    """The quotas that change, with all on them that is not done and fits; what does not fit any is refused."""
    running = list(quotas)
    for waiter in waiting:
        if waiter.done:
            continue
        try:
            concerned = [concerns_object(waiter.attributes, quota, waiter.extended) for quota in running]
            changes = [
                booked(waiter.attributes, quota, waiter.extended) if concerns else None
                for quota, concerns in zip(running, concerned, strict=True)
            ]
        except ApiError as refusal:
            waiter.refuse(refusal)
            continue
        if waiter.attributes.dry_run or not any(changes):
            waiter.done = True
        else:
            running = [change or quota for quota, change in zip(running, changes, strict=True)]
    return [after for before, after in zip(quotas, running, strict=True) if after is not before]


def _version(quota: Object) -> int:
    return int(quota["metadata"]["resourceVersion"])
