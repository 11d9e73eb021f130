"""The Lease by which an API server says that it is there, apiserver-… in kube-system, and the end of those of others.

It is made before the first request is answered and renewed every ten seconds; a server that starts again takes it over
as a new holder. Each hour those are deleted whose servers have not renewed them for an hour. The hash in the name is of
the host's name upstream; here of the cluster's, since several servers may share a host.

Source: pkg/controlplane/apiserver/server.go, pkg/controlplane/controller/apiserverleasegc, apiserver
pkg/server/config.go (APIServerID), component-helpers apimachinery/lease (KEP-1965, on by default since 1.26).
"""

from __future__ import annotations

import logging
from base64 import b32encode
from datetime import datetime, timedelta
from hashlib import sha256

from engine.api.types import LEASES, Object
from engine.apiserver.loopback import Loopback
from engine.world import World

log = logging.getLogger(__name__)

IDENTITY_LABEL = "apiserver.kubernetes.io/identity"
_COMPONENT = "kube-apiserver"
_NAMESPACE = "kube-system"
_DURATION = 3600  # seconds
_RENEWAL, _COLLECTION = 10.0, 3600.0
_TRIES = 5


def apiserver_id(host: str) -> str:
    """The name of the Lease: a hash of the host's name and the component's, each after its length."""
    parts = (host.encode(), _COMPONENT.encode())
    digest = sha256(b"".join(len(part).to_bytes(2, "big") + part for part in parts)).digest()
    return f"apiserver-{b32encode(digest[:16]).decode().rstrip('=').lower()}"


class IdentityLease:
    def __init__(self, loopback: Loopback, world: World, host: str) -> None:
        self._loopback = loopback
        self._clock = world.clock
        self._rng = world.rng.stream("apiserver-identity")
        self._host = host
        self._name = apiserver_id(host)
        self._path = LEASES.path(_NAMESPACE, self._name)
        self._holder = ""
        self._newest: Object | None = None  # as the last write left it

    async def begin(self) -> None:
        """Say that a server has started: each start is a holder of its own."""
        self._holder = f"{self._name}_{self._rng.uid()}"
        self._newest = None
        await self.renew()

    async def run(self) -> None:
        while True:
            await self._clock.sleep(_RENEWAL)
            await self.renew()

    async def collect(self) -> None:
        """Delete the Leases of servers that are gone, from time to time."""
        while True:
            await self._clock.sleep(_COLLECTION)
            selector = {"labelSelector": [f"{IDENTITY_LABEL}={_COMPONENT}"]}
            answer = await self._loopback.ask("GET", LEASES.path(_NAMESPACE), query=selector)
            for lease in answer.body.get("items") or () if answer.status == 200 else ():
                if _expired(lease, self._clock.now()):
                    metadata = lease["metadata"]
                    unchanged = {"preconditions": {"resourceVersion": metadata["resourceVersion"]}}
                    await self._loopback.ask("DELETE", LEASES.path(_NAMESPACE, metadata["name"]), unchanged)

    async def renew(self) -> None:
        """Never raises: what fails now is tried again in a while."""
        for _ in range(_TRIES):
            if self._newest is None:
                found = await self._loopback.ask("GET", self._path)
                self._newest = found.body if found.status == 200 else None
            if self._newest is None:
                answer = await self._loopback.ask("POST", LEASES.path(_NAMESPACE), self._renewed({}))
            else:
                answer = await self._loopback.ask("PUT", self._path, self._renewed(self._newest))
            if answer.status < 400:
                self._newest = answer.body
                return
            self._newest = None  # somebody else changed it, or it is gone
        log.warning("the lease %s is not renewed: %s", self._name, answer.body)

    def _renewed(self, lease: Object) -> Object:
        metadata, spec = lease.get("metadata") or {}, lease.get("spec") or {}
        labels = {**(metadata.get("labels") or {}), IDENTITY_LABEL: _COMPONENT, "kubernetes.io/hostname": self._host}
        renewal = {"holderIdentity": self._holder, "renewTime": self._clock.micro_timestamp()}
        return {
            "apiVersion": LEASES.api_version,
            "kind": "Lease",
            "metadata": {**metadata, "name": self._name, "namespace": _NAMESPACE, "labels": labels},
            "spec": {"leaseDurationSeconds": _DURATION, **spec, **renewal},
        }


def _expired(lease: Object, now: datetime) -> bool:
    """One that does not say until when it is good is none of a server's."""
    spec = lease.get("spec") or {}
    renewed, duration = spec.get("renewTime"), spec.get("leaseDurationSeconds")
    if renewed is None or duration is None:
        return True
    return datetime.fromisoformat(renewed) + timedelta(seconds=duration) < now
