"""The etcd-shaped store. Only `engine.apiserver` (and the composition root, `engine.cluster`) may import it."""

from engine.store.inspection import LogEntry, RecentTxn, WatcherInfo
from engine.store.members import Clustered, Identity, Member
from engine.store.retention import Retention
from engine.store.snapshot import restore
from engine.store.sqlite import SqliteStore
from engine.store.types import (
    CompactedError,
    Compare,
    DeleteRange,
    Event,
    FutureRevisionError,
    KeyValue,
    LeaseNotFoundError,
    NoSpaceError,
    Operation,
    Put,
    Range,
    RangeResponse,
    RequestTooLargeError,
    Store,
    StoreError,
    StoreStatus,
    StoreUnavailableError,
    TxnResponse,
    Watcher,
    WatchResponse,
    prefix_end,
)

__all__ = [
    "Clustered",
    "CompactedError",
    "Compare",
    "DeleteRange",
    "Event",
    "FutureRevisionError",
    "Identity",
    "KeyValue",
    "LeaseNotFoundError",
    "LogEntry",
    "Member",
    "NoSpaceError",
    "Operation",
    "Put",
    "Range",
    "RangeResponse",
    "RecentTxn",
    "RequestTooLargeError",
    "Retention",
    "SqliteStore",
    "Store",
    "StoreError",
    "StoreStatus",
    "StoreUnavailableError",
    "TxnResponse",
    "WatchResponse",
    "Watcher",
    "WatcherInfo",
    "prefix_end",
    "restore",
]
