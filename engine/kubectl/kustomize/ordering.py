"""The order in which a build's resources come: as they were named, or by kind (SortOrderTransformer.go)."""

from __future__ import annotations

from typing import Any

from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.identity import Gvk
from engine.kubectl.kustomize.resource import Resource

_FIRST = (
    "Namespace", "ResourceQuota", "StorageClass", "CustomResourceDefinition", "ServiceAccount", "PodSecurityPolicy",
    "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Secret", "Endpoints", "Service",
    "LimitRange", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim", "Deployment", "StatefulSet", "CronJob",
    "PodDisruptionBudget",
)  # fmt: skip
_LAST = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def ordered(resources: list[Resource], options: dict[str, Any]) -> list[Resource]:
    """`options` are the kustomization's `sortOptions`. Raises BuildError."""
    order = str(options.get("order") or "")
    legacy = options.get("legacySortOptions")
    if order not in ("fifo", "legacy"):
        raise BuildError("the field 'sortOptions.order' must be one of [fifo, legacy]")
    if order == "fifo":
        if legacy is not None:
            raise BuildError(
                "the field 'sortOptions.legacySortOptions' is set but the selected sort order is 'fifo', not 'legacy'"
            )
        return resources
    first, last = _FIRST, _LAST
    if legacy is not None:
        first, last = tuple(legacy.get("orderFirst") or ()), tuple(legacy.get("orderLast") or ())
    ranks = {kind: index - len(first) for index, kind in enumerate(first)}
    ranks |= {kind: index + 1 for index, kind in enumerate(last)}
    return sorted(resources, key=lambda resource: _key(resource, ranks))


def _key(resource: Resource, ranks: dict[str, int]) -> tuple[int, str, str]:
    id_ = resource.id
    name = "|".join((str(id_.gvk), id_.namespace or "~X", id_.name or "~N"))
    return ranks.get(id_.gvk.kind, 0), _type(id_.gvk), name


def _type(gvk: Gvk) -> str:
    return "_".join((gvk.group or "~G", gvk.version or "~V", gvk.kind or "~K"))
