"""The node's heartbeat: a Lease in kube-node-lease, renewed every ten seconds (component-helpers lease)."""

from __future__ import annotations

import logging

from engine.api.errors import ApiError
from engine.api.types import LEASES, Object
from engine.client import Client
from engine.clock import Clock

log = logging.getLogger(__name__)

NAMESPACE = "kube-node-lease"
DURATION_SECONDS = 40
RENEW_INTERVAL = 10.0
RENEW_JITTER = 0.04
MAX_TRIES = 5


class NodeLease:
    def __init__(self, client: Client, clock: Clock, *, node_name: str) -> None:
        self._client = client
        self._clock = clock
        self._name = node_name
        self._latest: Object | None = None

    async def renew(self, node: Object) -> None:
        """Renew the lease, or make it. A failure is left to the next time."""
        for _ in range(MAX_TRIES):
            try:
                self._latest = await self._write(node)
                return
            except ApiError as error:
                self._latest = None
                if error.code not in (404, 409):
                    log.warning("failed to update lease of %s: %s", self._name, error)
                    return
                if error.code == 404 and error.details and error.details.get("kind") == "namespaces":
                    return  # kube-node-lease is not there yet
            except ConnectionError as error:
                log.warning("failed to update lease of %s: %s", self._name, error)
                return

    async def _write(self, node: Object) -> Object:
        latest = self._latest
        if latest is None:
            try:
                latest = await self._client.get(LEASES, self._name, namespace=NAMESPACE)
            except ApiError as error:
                if error.code != 404:
                    raise
                return await self._client.create(LEASES, self._lease(node, {}), namespace=NAMESPACE)
        return await self._client.update(LEASES, self._lease(node, latest["metadata"]))

    def _lease(self, node: Object, metadata: Object) -> Object:
        owner = {"apiVersion": "v1", "kind": "Node", "name": self._name, "uid": node["metadata"]["uid"]}
        return {
            "kind": "Lease",
            "apiVersion": "coordination.k8s.io/v1",
            "metadata": {**metadata, "name": self._name, "namespace": NAMESPACE, "ownerReferences": [owner]},
            "spec": {
                "holderIdentity": self._name,
                "leaseDurationSeconds": DURATION_SECONDS,
                "renewTime": self._clock.micro_timestamp(),
            },
        }
