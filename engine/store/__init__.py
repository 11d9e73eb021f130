"""The etcd-shaped store. Only `engine.apiserver` (and the composition root, `engine.cluster`) may import it."""

from engine.store.inspection import LogEntry, RecentTxn, WatcherInfo
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
    "CompactedError",
    "Compare",
    "DeleteRange",
    "Event",
    "FutureRevisionError",
    "KeyValue",
    "LeaseNotFoundError",
    "LogEntry",
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
