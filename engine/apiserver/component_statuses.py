"""componentstatuses: the health of the other parts of the control plane, asked for when it is read; nothing is stored.

Source of the behaviour: pkg/registry/core/componentstatus and pkg/registry/core/rest (componentStatusStorage). Upstream
asks the ports of this machine; here a part is up if it offers views in this process or holds its Lease in another.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from engine.api.errors import ApiError
from engine.api.types import LEASES, Object
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.health import store_trouble
from engine.apiserver.lookup import Lookup
from engine.apiserver.registry.lists import list_object
from engine.apiserver.registry.selection import select


class _Part(NamedTuple):
    view: str  # the beginning of the names of its views
    lease: str
    port: int


_PARTS = {
    "controller-manager": _Part("controllers", "kube-controller-manager", 10257),
    "scheduler": _Part("scheduler", "kube-scheduler", 10259),
}
_ETCD = "etcd-0"


class ComponentStatuses:
    def __init__(self, backend: Backend, lookup: Lookup) -> None:
        self._backend = backend
        self._lookup = lookup

    async def get(self, call: Call) -> Object:
        """Raises ApiError 500, as upstream does, whose registry has an error without a reason for it."""
        name = call.info.name
        if name not in _PARTS and name != _ETCD:
            raise ApiError(500, "", f"Component not found: {name}")
        return await self._status(name)

    async def list(self, call: Call) -> Object:
        info = call.gvr_resource
        selection = select(info, "", call.request)
        every = [await self._status(name) for name in (*_PARTS, _ETCD)]
        found = [each for each in every if selection.wants(each)]
        return list_object(info, found, revision=self._backend.storage.store.revision)

    async def _status(self, name: str) -> Object:
        trouble = await self._trouble(name)
        condition: Object = {"type": "Healthy", "status": "False" if trouble else "True", "message": trouble or "ok"}
        return {"apiVersion": "v1", "kind": "ComponentStatus", "metadata": {"name": name}, "conditions": [condition]}

    async def _trouble(self, name: str) -> str:
        if name == _ETCD:
            return await store_trouble(self._backend.storage.store)
        part = _PARTS[name]
        return "" if await self._up(part) else _refused(part)

    async def _up(self, part: _Part) -> bool:
        if any(name.startswith(part.view) for name in self._backend.world.views):
            return True
        lease = await self._lookup.find(LEASES, "kube-system", part.lease)
        spec = (lease or {}).get("spec") or {}
        if not spec.get("renewTime") or not spec.get("holderIdentity"):
            return False
        until = datetime.fromisoformat(spec["renewTime"]) + timedelta(seconds=spec.get("leaseDurationSeconds") or 0)
        return until > self._backend.world.clock.now()


def _refused(part: _Part) -> str:
    address = f"127.0.0.1:{part.port}"
    return f'Get "https://{address}/healthz": dial tcp {address}: connect: connection refused'
