"""Who keeps the store: the identity in etcd's response headers, and its members (`etcdctl endpoint status`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol, runtime_checkable

from engine.store.types import StoreStatus


class Identity(NamedTuple):
    """What every answer of etcd says of where it comes from (etcdserverpb ResponseHeader)."""

    cluster_id: int
    member_id: int
    raft_term: int


@dataclass(frozen=True, slots=True)
class Member:
    """One member as it stands now. `details` is what the backend can tell besides (lag, fsync time, state)."""

    name: str
    endpoint: str
    id: int
    version: str
    leader_id: int  # whom it follows; its own id for the leader, 0 for none
    raft_term: int
    raft_index: int
    applied_index: int
    db_size: int
    db_size_in_use: int
    errors: tuple[str, ...] = ()
    simulated: bool = False
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def is_leader(self) -> bool:
        return bool(self.id) and self.id == self.leader_id


@dataclass(frozen=True, slots=True)
class Registered:
    """A member as the cluster's list has it, whether it runs or not (rpc.proto Member)."""

    id: int
    name: str
    peer_urls: tuple[str, ...]
    client_urls: tuple[str, ...]
    is_learner: bool = False


def registered(member: Member) -> Registered:
    """A member that is only told of: of a simulated quorum, or the one that there is."""
    return Registered(member.id, member.name, (member.endpoint,), (member.endpoint,))


def sole_member(identity: Identity, status: StoreStatus) -> Member:
    """The one member of a store that is alone, which leads and has applied all there is."""
    file = status.details["file"]
    return Member(
        name="default",
        endpoint=f"sqlite://{file}" if file else "memory://",
        id=identity.member_id,
        version=status.version,
        leader_id=identity.member_id,
        raft_term=identity.raft_term,
        raft_index=status.revision,
        applied_index=status.revision,
        db_size=status.db_size,
        db_size_in_use=status.db_size_in_use,
        errors=troubles(identity.member_id, status),
    )


def troubles(member_id: int, status: StoreStatus) -> tuple[str, ...]:
    """What keeps a store from taking writes: its alarms as etcd's status has them (rpc.proto AlarmMember, as Go prints
    it), and what its disk refused last."""
    refusing = status.details.get("refusing")
    alarms = (f"memberID:{member_id} alarm:{name} " for name in status.alarms)
    return (*alarms, *([refusing] if refusing else []))


class Alarm(NamedTuple):
    member_id: int
    name: str  # NOSPACE or CORRUPT


class HashedMember(NamedTuple):
    """What a member's keys come to (`etcdctl endpoint hashkv`); members that differ have lost their agreement.

    `compact_revision` is -1 where nothing was ever compacted; `error` says why a member does not answer.
    """

    endpoint: str
    member_id: int
    hash: int
    compact_revision: int
    error: str = ""


@runtime_checkable
class Clustered(Protocol):
    """A store that knows its members and leases; all backends do."""

    def identity(self) -> Identity: ...

    async def members(self) -> list[Member]: ...

    async def member_list(self) -> list[Registered]: ...

    async def disarm(self) -> list[Alarm]:
        """Take back all alarms and say which those were; what is still so raises them again."""
        ...

    async def move_leader(self, member_id: int) -> None:
        """Let another member lead. Raises StoreError for one that cannot."""
        ...

    async def leases(self) -> list[int]:
        """Their ids, in the order in which they end."""
        ...

    async def hash_kv(self, revision: int) -> list[HashedMember]:
        """The hash of all keys as of a revision, 0 for the newest, at each member."""
        ...


BAD_TRANSFEREE = "etcdserver: bad leader transferee"


def hashed_id(*parts: object) -> int:
    """An id as etcd makes them: 64 bits of a hash, never 0."""
    digest = blake2b("/".join(str(part) for part in parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") or 1
