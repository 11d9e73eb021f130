"""Roles and bindings that a cluster is born with grant at each start again what they should: a release may grant more
than the one that made them, and what somebody took away comes back. What grants more stays, and so does whose
annotation `rbac.authorization.kubernetes.io/autoupdate` says false.

Source: pkg/registry/rbac/rest storage_rbac.go (EnsureRBACPolicy).
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.apply import track_update
from engine.api.rbac import reconciled_binding, reconciled_role
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.apiserver.backend import Backend

_LABEL, _POLICY = "kubernetes.io/bootstrapping", "rbac-defaults"
_MANAGER = "kube-apiserver"


def is_reconciled(expected: Object) -> bool:
    """Whether an object that a cluster is born with is one of these."""
    labels: Object = expected["metadata"].get("labels") or {}
    return labels.get(_LABEL) == _POLICY


async def reconcile_policy(
    backend: Backend, info: ResourceInfo, expected: Object, make: Callable[[Object], bytes]
) -> None:
    """`make` makes the stored value of an object that there is not, for a binding whose role is another."""
    metadata = expected["metadata"]
    namespace, name = metadata.get("namespace", ""), metadata["name"]
    stored = await backend.storage.get(info, namespace, name)
    if stored is None:
        return
    if "roleRef" in expected:
        plan = reconciled_binding(expected, stored.object)
    else:  # rules of a role that aggregates are the aggregation controller's
        own = {**expected, "rules": []} if "aggregationRule" in expected else expected
        plan = reconciled_role(own, stored.object)
    if plan.protected or not plan.operation:
        return
    if plan.operation == "recreate":
        await backend.storage.remove(info, namespace, name, expected=stored.revision, cause="")
        await backend.storage.create_all({info.key(namespace, name): make(expected)})
        return
    written = track_update(
        stored.object,
        plan.object,
        manager=_MANAGER,
        now=backend.world.clock.now(),
        schema=backend.definitions.kind(info.gvk),
        api_version=info.gvr.api_version,
    )
    await backend.storage.replace(info, namespace, name, written, expected=stored.revision, cause="")
