"""Leader election by a Lease (client-go tools/leaderelection).

Of several processes that do the same work, the one that holds the Lease does it. A holder renews it; one that fails to
for `renew_deadline` stops; the others take it over once they have seen it unchanged for `lease_duration`, by their own
clocks, so that clocks need not agree.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context
from dataclasses import dataclass
from typing import Any

from engine.api.errors import ApiError
from engine.api.types import LEASES, Object
from engine.client.client import Client
from engine.tasks import Supervisor
from engine.world import World

log = logging.getLogger(__name__)

JITTER = 1.2


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """In seconds; kube-controller-manager's and kube-scheduler's defaults."""

    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0


class LeaderElector:
    """Stands for election until stopped. `lead` is called when the Lease is won, `yield_` when it is lost."""

    def __init__(
        self,
        client: Client,
        world: World,
        *,
        name: str,
        identity: str,
        lead: Callable[[], Coroutine[Any, Any, None]],
        yield_: Callable[[], Awaitable[None]],
        namespace: str = "kube-system",
        times: LeaseTimes | None = None,
    ) -> None:
        self.identity = identity
        self.is_leader = False
        self.slow_paths = 0  # renewals that could not be written without reading the Lease first
        self._client = client
        self._clock = world.clock
        self._rng = world.rng.stream(f"election/{name}/{identity}")
        self._name = name
        self._namespace = namespace
        self._lead = lead
        self._yield = yield_
        self._times = times or LeaseTimes()
        self._lease: Object = {}  # as last seen
        self._observed: Object | None = None  # its spec
        self._observed_at = 0.0
        self._tasks = Supervisor(f"election {name} {identity}")

    @property
    def leader(self) -> str:
        """Who holds the Lease, as far as this one has seen."""
        return str((self._observed or {}).get("holderIdentity", ""))

    def start(self) -> None:
        Context().run(self._tasks.spawn, self._run(), "elector")

    async def stop(self, *, release: bool = True) -> None:
        """Stand down; `release` lets the others take over at once."""
        await self._tasks.close()
        if not self.is_leader:
            return
        self.is_leader = False
        await self._yield()
        if release:
            await self._release()

    async def _run(self) -> None:
        while True:
            await self._acquire()
            self.is_leader = True
            log.info("%s became leader of %s", self.identity, self._name)
            # Beside the renewals: a long start must not cost the lead.
            leading = self._tasks.spawn(self._lead(), "lead")
            await self._renew()
            log.info("%s lost the lead of %s", self.identity, self._name)
            leading.cancel()
            await asyncio.wait([leading])
            await self._yield()
            self.is_leader = False

    async def _acquire(self) -> None:
        while not await self._try():
            # Drawn apart, so that those who wait do not all come at once.
            await self._clock.sleep(self._times.retry_period * (1 + self._rng.random() * JITTER))

    async def _renew(self) -> None:
        """Renew until that has failed for too long; a server that does not answer must not hide that."""
        began = self._clock.monotonic()
        while (left := began + self._times.renew_deadline - self._clock.monotonic()) > 0:
            try:
                async with self._clock.timeout(left):
                    ours = await self._try()
            except TimeoutError:
                return
            if not ours and self.leader != self.identity:
                return
            await self._clock.sleep(self._times.retry_period)
            if ours:
                began = self._clock.monotonic()

    async def _try(self) -> bool:
        """Take the Lease or renew it; says whether it is ours (tryAcquireOrRenew)."""
        try:
            return await self._try_once()
        except (ApiError, ConnectionError, TimeoutError) as error:
            log.info("%s: cannot take or renew the lease %s: %s", self.identity, self._name, error)
            return False

    async def _try_once(self) -> bool:
        if self.leader == self.identity and self._is_valid():
            try:
                return await self._renew_unread()
            except (ApiError, ConnectionError, TimeoutError) as error:
                # Somebody else has written it, or the answer to our own last write was lost.
                self.slow_paths += 1
                log.info("%s: cannot renew the lease %s optimistically: %s", self.identity, self._name, error)
        try:
            lease = await self._get()
        except ApiError as error:
            if error.code != 404:
                raise
            metadata = {"name": self._name, "namespace": self._namespace}
            fresh = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata}
            fresh["spec"] = self._record(None)
            self._observe(await self._in_time(self._client.create(LEASES, fresh, namespace=self._namespace)))
            return True
        self._observe(lease)
        spec = lease.get("spec") or {}
        holder = spec.get("holderIdentity", "")
        if holder and holder != self.identity and self._is_valid():
            return False
        self._observe(await self._update({**lease, "spec": self._record(spec)}))
        return True

    async def _renew_unread(self) -> bool:
        """Renew the Lease as it was last seen: one request where reading it first takes two."""
        lease = {**self._lease, "spec": self._record(self._observed)}
        self._observe(await self._update(lease))
        return True

    def _is_valid(self) -> bool:
        """Whether the holder has renewed the Lease in time, by our own clock."""
        seconds: int = (self._observed or {}).get("leaseDurationSeconds", 0)
        return self._clock.monotonic() - self._observed_at < seconds

    def _observe(self, lease: Object) -> None:
        self._lease = lease
        spec = lease.get("spec") or {}
        if spec != self._observed:
            self._observed, self._observed_at = spec, self._clock.monotonic()

    def _record(self, before: Object | None) -> Object:
        """The spec with which we take or renew the Lease; `before` is None for one that there was not yet."""
        now = self._clock.micro_timestamp()
        fresh, before = before is None, before or {}
        mine = before.get("holderIdentity") == self.identity
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": int(self._times.lease_duration),
            "acquireTime": before.get("acquireTime", now) if mine else now,
            "renewTime": now,
            "leaseTransitions": before.get("leaseTransitions", 0) + (0 if mine or fresh else 1),
        }

    async def _release(self) -> None:
        """Give the Lease back: nobody holds it, and it is valid for a second only."""
        try:
            lease = await self._get()
            spec = lease.get("spec") or {}
            if spec.get("holderIdentity") != self.identity:
                return
            now = self._clock.micro_timestamp()
            freed = {**spec, "holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": now, "acquireTime": now}
            await self._update({**lease, "spec": freed})
        except (ApiError, ConnectionError, TimeoutError) as error:
            log.info("%s: cannot release the lease %s: %s", self.identity, self._name, error)

    # -- requests

    async def _get(self) -> Object:
        return await self._in_time(self._client.get(LEASES, self._name, namespace=self._namespace))

    async def _update(self, lease: Object) -> Object:
        return await self._in_time(self._client.update(LEASES, lease))

    async def _in_time(self, answer: Awaitable[Object]) -> Object:
        """What a server says within half of the renew deadline, as long as upstream's lock waits for its client: one
        that says nothing must neither keep a candidate from asking again nor a holder from stopping."""
        async with self._clock.timeout(self._times.renew_deadline / 2):
            return await answer
