"""The client library: transports, verbs, informers, work queues (client-go's shape, on asyncio)."""

from engine.client.client import Client, ObjectList, Watch
from engine.client.factory import InformerFactory
from engine.client.indexer import join_key, object_key, split_key
from engine.client.informer import SharedInformer
from engine.client.leader_election import LeaderElector
from engine.client.lister import Lister
from engine.client.origin import Origin, first_cause, woken_by
from engine.client.recorder import NORMAL, WARNING, EventRecorder, object_reference
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
    "SharedInformer",
    "Transport",
    "Watch",
    "WorkQueue",
    "first_cause",
    "join_key",
    "object_key",
    "object_reference",
    "split_key",
    "woken_by",
]
