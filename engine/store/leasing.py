"""Leases as the store offers them (etcd server/etcdserver/api/v3rpc lease.go, server/lease lessor.go).

A grant and an end are written like everything else, in the batch that is next; the end of a lease deletes all its keys
in one revision with it, whether somebody revoked it or its time is over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from engine.rng import Rng
from engine.store.draft import Draft
from engine.store.evaluation import delete_keys
from engine.store.index import Revision
from engine.store.leases import Lease, LeaseChange, Lessor, check_ttl
from engine.store.types import LeaseNotFoundError

# Puts a revision, if there is one, and what becomes of a lease into the next batch: done when durable.
Submit = Callable[[Revision | None, LeaseChange], asyncio.Future[None]]


class Leasing:
    def __init__(self, lessor: Lessor, draft: Draft, rng: Rng, submit: Submit) -> None:
        self.may_expire: Callable[[], bool] = lambda: True  # whether leases may end now: only a leader ends them
        self._lessor = lessor
        self._draft = draft
        self._rng = rng
        self._submit = submit

    async def grant(self, ttl: int, lease_id: int) -> int:
        ttl = check_ttl(ttl)
        lease_id = lease_id or self._rng.bits(62) + 1
        self._lessor.reserve(lease_id)
        try:
            await self._submit(None, LeaseChange(lease_id, ttl))
        finally:
            self._lessor.unreserve(lease_id)
        return lease_id

    def keep_alive(self, lease_id: int) -> int:
        lease = self._lease(lease_id)
        self._lessor.renew(lease)
        return lease.ttl

    async def revoke(self, lease_id: int) -> None:
        await self._end(self._lease(lease_id))

    def time_to_live(self, lease_id: int) -> tuple[int, int, list[bytes]]:
        lease = self._lessor.get(lease_id)
        if lease is None:
            return -1, 0, []
        return int(self._lessor.remaining(lease)), lease.ttl, sorted(lease.keys)

    def expire(self, lease: Lease) -> None:
        """A lease has run out: its end joins the next batch; if that fails, the lessor tries again."""
        if self.may_expire():
            self._end(lease).add_done_callback(lambda future: future.exception())
        else:
            lease.ending = True
            self._lessor.revocation_failed(lease.id)

    def _lease(self, lease_id: int) -> Lease:
        lease = self._lessor.get(lease_id)
        if lease is None:
            raise LeaseNotFoundError
        return lease

    def _end(self, lease: Lease) -> asyncio.Future[None]:
        lease.ending = True
        return self._submit(self._delete_leased(lease), LeaseChange(lease.id, 0))

    def _delete_leased(self, lease: Lease) -> Revision | None:
        """The revision that deletes the keys of a lease, decided; None if it holds none."""
        held = {**lease.keys, **dict.fromkeys(self._draft.staged_with_lease(lease.id))}
        keys = [key for key in sorted(held) if (kv := self._draft.get(key)) is not None and kv.lease == lease.id]
        changes = delete_keys(self._draft, keys, self._draft.revision + 1)
        if not changes:
            return None
        self._draft.revision += 1
        return Revision(self._draft.revision, "", changes)
