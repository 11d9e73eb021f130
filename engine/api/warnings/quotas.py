"""What quotas are warned of (the strategy of pkg/registry/core/resourcequota, since 1.35)."""

from __future__ import annotations

from engine.api.quantity import Quantity
from engine.api.types import Object

_NAMES = ("cpu", "memory", "storage", "ephemeral-storage")
_BARE = ("cpu", "memory")  # which stand for requests too


def resource_quota(obj: Object) -> list[str]:
    hard = obj.get("spec", {}).get("hard", {})
    found = []
    for name in _NAMES:
        request, limit = f"requests.{name}", f"limits.{name}"
        if request not in hard and name in _BARE:
            request = name
        if request not in hard or limit not in hard:
            continue
        requested, limited = Quantity.parse(str(hard[request])), Quantity.parse(str(hard[limit]))
        if requested > limited:
            found.append(f"ResourceQuota {request} ({requested}) should be less than {limit} ({limited})")
    return found
