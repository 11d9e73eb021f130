"""A Pod under a quota on compute must say what it needs (pkg/quota/v1/evaluator/core pods.go Constraints)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.pod_amounts import has_own_resources
from engine.api.types import Object

_COMPUTE = frozenset(("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"))


def missing_requests(pod: Object, required: Iterable[str]) -> str:
    """Which containers leave out which of the required resources; "" if none does. Of a Pod that says itself what it
    needs nothing more is asked."""
    spec = pod.get("spec") or {}
    if has_own_resources(spec):
        return ""
    names = sorted(name for name in required if name in _COMPUTE)
    missing: dict[str, list[str]] = {}
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            for name in names:
                if not _says(container.get("resources") or {}, name):
                    missing.setdefault(name, []).append(container["name"])
    told = [f"{name} for: {','.join(sorted(dict.fromkeys(missing[name])))}" for name in sorted(missing)]
    return f"must specify {'; '.join(told)}" if told else ""


def _says(resources: Object, name: str) -> bool:
    part, _, bare = name.rpartition(".")
    return bare in (resources.get(part or "requests") or {})
