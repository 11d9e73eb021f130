"""Which store a cluster has: its own SQLite log, in a file or in memory, or a real etcd that others may share."""

from __future__ import annotations

from engine.config import ClusterConfig
from engine.folder import ClusterFolder
from engine.store import Compare, Put, Range, SqliteStore, Store
from engine.store.quorum import Quorum, QuorumStore
from engine.store.retention import Retention
from engine.world import World

# What the processes on one etcd share besides the objects.
SERVICE_ACCOUNT_KEY = b"/ktui/service-account-key"


async def open_store(config: ClusterConfig, folder: ClusterFolder | None, world: World) -> Store:
    """Raises StoreError, which says what is wrong and what to do about it."""
    if config.store == "etcd":
        # Only who wants it pays for loading gRPC.
        from engine.store.etcd import EtcdStore, EtcdTls

        tls = EtcdTls(config.etcd_cafile, config.etcd_certfile, config.etcd_keyfile)
        return await EtcdStore.open(config.etcd_endpoints, clock=world.clock, tls=tls)
    path = folder.store if folder else None
    period, revisions = config.compaction_period, config.compaction_revisions
    store = await SqliteStore.open(
        path,
        clock=world.clock,
        rng=world.rng.stream("store"),
        quota=config.quota_backend_bytes,
        retention=Retention(period=period, revisions=revisions) if period else Retention(automatic=False),
    )
    return store if config.etcd_members == 1 else _with_quorum(store, config.etcd_members, world)


def _with_quorum(store: SqliteStore, members: int, world: World) -> Store:
    """The store behind simulated members; what a write takes is theirs to say from now on."""
    quorum = Quorum(
        members,
        clock=world.clock,
        rng=world.rng.stream("quorum"),
        cluster_id=store.identity().cluster_id,
        fsync=world.latency.hand_over("store"),
        index=store.revision,
    )
    world.views.offer("etcd", lambda _: quorum.describe())
    return QuorumStore(store, quorum, world.latency)


def seed_of(config: ClusterConfig) -> int | str | None:
    """Processes that share a store must not draw the same uids and names from the same seed."""
    if config.store == "etcd" and config.seed is not None:
        return f"{config.seed}/{config.name}"
    return config.seed


async def first_value(store: Store, key: bytes, value: bytes) -> bytes:
    """The value that the first of all processes gave a key: this one's, where there is none yet."""
    response = await store.txn([Compare(key, "version", "=", 0)], [Put(key, value)], [Range(key)])
    if response.succeeded:
        return value
    found = await store.range(Range(key))
    return found.kvs[0].value
