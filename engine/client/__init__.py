"""The client library: transports, verbs, informers, work queues (client-go's shape, on asyncio)."""

from engine.client.client import Client, ObjectList, Watch
from engine.client.transport import InProcessTransport, Transport

__all__ = ["Client", "InProcessTransport", "ObjectList", "Transport", "Watch"]
