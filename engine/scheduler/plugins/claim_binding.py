"""What DynamicResources does before a pod is bound: writes down what its claims got, and waits until it is ready."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from engine.api.errors import ApiError
from engine.api.golang.duration import duration_text
from engine.api.types import Object
from engine.client import NORMAL
from engine.scheduler.framework.status import SUCCESS, Status, error
from engine.scheduler.plugins.assumptions import Assumptions
from engine.scheduler.plugins.claim_state import ClaimState
from engine.scheduler.plugins.claim_writing import ClaimWriter
from engine.scheduler.plugins.device_conditions import (
    POLL_PERIOD,
    DeviceLateError,
    drivers_waited_for,
    has_conditions,
    is_late,
    is_ready,
    status_of,
)
from engine.scheduler.plugins.resource_claims import ClaimError, is_reserved, uid_of
from engine.scheduler.pod_info import PodInfo

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle


class ClaimBinder:
    """`pending` are claims whose allocation is being written, by uid: what is written is no longer among them."""

    def __init__(
        self,
        handle: Handle,
        claims: Assumptions,
        pending: MutableMapping[str, Object],
        writer: ClaimWriter,
        *,
        timeout: float,
        conditions: bool,
    ) -> None:
        """`conditions`: whether devices are waited for that have conditions."""
        self._handle = handle
        self._claims = claims
        self._pending = pending
        self._writer = writer
        self._timeout = timeout
        self._conditions = conditions

    async def bind(self, kept: ClaimState, pod: PodInfo, node_name: str) -> Status:
        """Write down allocations and reservations, and wait until the devices are ready."""
        try:
            for i, claim in enumerate(kept.claims):
                if not is_reserved(claim, pod):
                    kept.claims[i] = await self._reserve(claim, pod, kept.allocations.get(uid_of(claim)))
            if (own := kept.own_on.get(node_name)) is not None:
                await self._write_own(kept, pod, own)
            await self._until_ready(kept, pod, node_name)
        except TimeoutError:
            return error("device binding timeout")
        except (ApiError, ConnectionError, ClaimError) as failure:
            return error(str(failure))
        return SUCCESS

    async def _reserve(self, claim: Object, pod: PodInfo, allocation: Object | None) -> Object:
        try:
            return await self._writer.reserve(claim, pod, allocation)
        finally:
            self._pending.pop(uid_of(claim), None)

    async def _write_own(self, kept: ClaimState, pod: PodInfo, own: tuple[Object, list[Object]]) -> None:
        claim, mappings = own
        try:
            kept.written = await self._writer.create(claim)
            allocation = kept.allocations[uid_of(claim)]
            kept.written = await self._writer.reserve(kept.written, pod, allocation)
        finally:
            self._pending.pop(uid_of(claim), None)
        await self._writer.tell(pod, kept.written, mappings)

    def wait_for(self, kept: ClaimState) -> str:
        """The claims whose devices are not ready yet, and how long they have; "" where nothing is waited for."""
        open_claims = [claim["metadata"]["name"] for claim in self._written(kept) if self._is_open(claim)]
        if not open_claims:
            return ""
        kind = "ResourceClaim" if len(open_claims) == 1 else "ResourceClaims"
        return f"{kind} {', '.join(open_claims)} to have ready devices, for {duration_text(self._timeout)} at most"

    def _is_open(self, written: Object) -> bool:
        if not self._conditions or not has_conditions(written):
            return False
        try:
            return not self._is_ready(written)
        except ClaimError:
            return True

    def _written(self, kept: ClaimState) -> list[Object]:
        return [*kept.claims, *([kept.written] if kept.written is not None else ())]

    async def _until_ready(self, kept: ClaimState, pod: PodInfo, node_name: str) -> None:
        """Raises TimeoutError, or ClaimError for a device that has failed."""
        claims = self._written(kept)
        if not self._conditions or not any(map(has_conditions, claims)):
            return
        note = f"waiting for binding conditions for device on node {node_name}"
        self._handle.recorder.event(pod.pod, NORMAL, "BindingConditionsPending", "Scheduling", note)
        clock, status = self._handle.clock, "error"
        began = clock.monotonic()
        try:
            await self._wait(claims)
            status = "success"
        except (TimeoutError, ClaimError) as failure:
            status = status_of(failure)
            raise
        finally:
            waited = clock.monotonic() - began
            self._handle.metrics.waited_for_devices(pod.scheduler_name, drivers_waited_for(claims), status, waited)

    async def _wait(self, claims: list[Object]) -> None:
        """Raises what `_until_ready` raises."""
        async with self._handle.clock.timeout(self._timeout):
            while not all(map(self._is_ready, claims)):
                await self._handle.clock.sleep(POLL_PERIOD)

    def _is_ready(self, written: Object) -> bool:
        """Raises ClaimError."""
        name, namespace = written["metadata"]["name"], written["metadata"]["namespace"]
        claim = self._claims.get(name, namespace)
        if claim is None:
            raise ClaimError(f'could not find ResourceClaim "{namespace}/{name}"')
        if is_ready(claim):
            return True
        if is_late(claim, self._timeout, self._handle.clock):
            raise DeviceLateError(f"claim {name} binding timeout")
        return False
