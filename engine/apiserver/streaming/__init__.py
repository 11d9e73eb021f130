"""exec, attach and port-forward over WebSocket, from kubectl to the node (KEP-4006)."""

from engine.apiserver.streaming.connector import NodeConnector

__all__ = ["NodeConnector"]
