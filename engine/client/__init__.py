"""The client library: transports, verbs, informers, work queues (client-go's shape, on asyncio).

Each name is imported when it is first asked for: a command line that sends one request needs no informers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.client.client import Client, ObjectList, Watch
    from engine.client.factory import InformerFactory
    from engine.client.indexer import join_key, object_key, split_key
    from engine.client.informer import SharedInformer
    from engine.client.leader_election import LeaderElector
    from engine.client.lister import Lister
    from engine.client.origin import Origin, first_cause, revision_of, woken_by
    from engine.client.recorder import NORMAL, WARNING, EventRecorder, object_reference
    from engine.client.series_recorder import SeriesRecorder
    from engine.client.transport import InProcessTransport, Transport
    from engine.client.workqueue import QueueShutDownError, WorkQueue

__all__ = [
    "NORMAL",
    "WARNING",
    "Client",
    "EventRecorder",
    "InProcessTransport",
    "InformerFactory",
    "LeaderElector",
    "Lister",
    "ObjectList",
    "Origin",
    "QueueShutDownError",
    "SeriesRecorder",
    "SharedInformer",
    "Transport",
    "Watch",
    "WorkQueue",
    "first_cause",
    "join_key",
    "object_key",
    "object_reference",
    "revision_of",
    "split_key",
    "woken_by",
]

_MODULES = {
    "Client": "client",
    "EventRecorder": "recorder",
    "InProcessTransport": "transport",
    "InformerFactory": "factory",
    "LeaderElector": "leader_election",
    "Lister": "lister",
    "NORMAL": "recorder",
    "ObjectList": "client",
    "Origin": "origin",
    "QueueShutDownError": "workqueue",
    "SeriesRecorder": "series_recorder",
    "SharedInformer": "informer",
    "Transport": "transport",
    "WARNING": "recorder",
    "Watch": "client",
    "WorkQueue": "workqueue",
    "first_cause": "origin",
    "join_key": "indexer",
    "object_key": "indexer",
    "object_reference": "recorder",
    "revision_of": "origin",
    "split_key": "indexer",
    "woken_by": "origin",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
