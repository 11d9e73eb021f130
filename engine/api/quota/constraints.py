"""A Pod under a quota on compute must say what it needs (pkg/quota/v1/evaluator/core pods.go Constraints)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.types import Object

_COMPUTE = frozenset(
    (
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
    )
)


def missing_requests(pod: Object, required: Iterable[str]) -> str:
    """Which containers leave out which of the required resources; "" if none does."""
    spec = pod.get("spec") or {}
    names = sorted(name for name in required if name in _COMPUTE)
    own = spec.get("resources") or {}
    missing: dict[str, list[str]] = {}
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            for name in names:
                if not _says(container.get("resources") or {}, name) and not _says(own, name):
                    missing.setdefault(name, []).append(container["name"])
    told = [f"{name} for: {','.join(sorted(dict.fromkeys(missing[name])))}" for name in sorted(missing)]
    return f"must specify {'; '.join(told)}" if told else ""


def _says(resources: Object, name: str) -> bool:
    part, _, bare = name.rpartition(".")
    return bare in (resources.get(part or "requests") or {})
