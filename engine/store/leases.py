"""Leases on the model clock (etcd server/lease `lessor.go`).

A lease counts down in model seconds; when it ends, the store deletes all its keys in one revision. As in etcd, the
time that is left is not on disk: after a restart every lease starts over with its full time to live.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from engine.clock import Clock, Timer
from engine.store.index import Change
from engine.store.types import StoreError

MIN_TTL = 2  # etcd's, at its default election timeout
MAX_TTL = 9_000_000_000
RETRY = 1.0  # model seconds until a revocation that could not be written is tried again


class LeaseChange(NamedTuple):
    """What a batch writes about a lease: its time to live, 0 for its end."""

    id: int
    ttl: int


class Lease:
    __slots__ = ("due", "ending", "id", "keys", "ttl")

    def __init__(self, id: int, ttl: int, due: float) -> None:
        self.id = id
        self.ttl = ttl
        self.due = due
        self.keys: dict[bytes, None] = {}
        self.ending = False  # its revocation is decided and on its way to the disk


class Lessor:
    """The committed leases. `on_expired` is called for each lease whose time is over."""

    def __init__(self, clock: Clock, on_expired: Callable[[Lease], None]) -> None:
        self._clock = clock
        self._on_expired = on_expired
        self._leases: dict[int, Lease] = {}
        self._reserved: dict[int, None] = {}
        self._timer: Timer | None = None
        self._timer_due = float("inf")

    def __len__(self) -> int:
        return len(self._leases)

    def ids(self) -> list[int]:
        """In the order in which they end."""
        return sorted(self._leases, key=lambda id: (self._leases[id].due, id))

    def get(self, id: int) -> Lease | None:
        """The lease, if it is there and not about to end."""
        lease = self._leases.get(id)
        return None if lease is None or lease.ending else lease

    def revocation_failed(self, id: int) -> None:
        """The lease stands; one that has run out is tried again."""
        lease = self._leases.get(id)
        if lease is None or not lease.ending:
            return
        lease.ending = False
        if lease.due <= self._clock.monotonic():
            self._arm(self._clock.monotonic() + RETRY)

    def reserve(self, id: int) -> None:
        """Keep an id from being granted twice while its grant is on its way to the disk."""
        if id in self._leases or id in self._reserved:
            raise StoreError("etcdserver: lease already exists")
        self._reserved[id] = None

    def unreserve(self, id: int) -> None:
        self._reserved.pop(id, None)

    def changes(self) -> list[LeaseChange]:
        """All leases, as the log keeps them."""
        return [LeaseChange(id, self._leases[id].ttl) for id in sorted(self._leases)]

    def remaining(self, lease: Lease) -> float:
        return max(0.0, lease.due - self._clock.monotonic())

    def renew(self, lease: Lease) -> None:
        lease.due = self._clock.monotonic() + lease.ttl

    def apply(self, change: LeaseChange) -> None:
        """A grant or an end has been committed."""
        if not change.ttl:
            self._leases.pop(change.id, None)
            return
        lease = Lease(change.id, change.ttl, self._clock.monotonic() + change.ttl)
        self._leases[change.id] = lease
        self._arm(lease.due)

    def attach(self, changes: list[Change]) -> None:
        """Keep up which keys each lease holds."""
        if not self._leases:
            return
        for kv, prev in changes:
            if prev is not None and prev.lease and prev.lease != kv.lease and prev.lease in self._leases:
                self._leases[prev.lease].keys.pop(kv.key, None)
            if kv.lease:
                self.attach_key(kv.lease, kv.key)

    def attach_key(self, id: int, key: bytes) -> None:
        lease = self._leases.get(id)
        if lease is not None:
            lease.keys[key] = None

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = float("-inf")

    def _arm(self, due: float) -> None:
        """Keep one timer set, for the earliest end; a renewed lease lets it ring early once."""
        if due >= self._timer_due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = due
        self._timer = self._clock.call_at(due, self._ring)

    def _ring(self) -> None:
        self._timer, self._timer_due = None, float("inf")
        now = self._clock.monotonic()
        expired = [lease for lease in self._leases.values() if lease.due <= now and not lease.ending]
        for lease in sorted(expired, key=lambda lease: (lease.due, lease.id)):
            self._on_expired(lease)
        waiting = [lease.due for lease in self._leases.values() if lease.due > now]
        if waiting:
            self._arm(min(waiting))


def check_ttl(ttl: int) -> int:
    """The time to live that is granted for the one asked for."""
    if ttl > MAX_TTL:
        raise StoreError("etcdserver: too large lease TTL")
    return max(ttl, MIN_TTL)
