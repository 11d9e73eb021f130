"""The other objects that an object names: its owners, its node, what its Pods mount and run as, what it points at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.api.types import Object
from ktui.models.link import Link

_VOLUMES = (
    ("configMap", "name", "configmaps"),
    ("secret", "secretName", "secrets"),
    ("persistentVolumeClaim", "claimName", "persistentvolumeclaims"),
)
_OF_SPEC = (
    ("nodeName", "nodes", "node", False),
    ("serviceAccountName", "serviceaccounts", "runs as", True),
    ("volumeName", "persistentvolumes", "volume", False),
    ("storageClassName", "storageclasses.storage.k8s.io", "class", False),
    ("ingressClassName", "ingressclasses.networking.k8s.io", "class", False),
    ("runtimeClassName", "runtimeclasses.node.k8s.io", "class", False),
    ("priorityClassName", "priorityclasses.scheduling.k8s.io", "priority", False),
)


def links_of(obj: Object) -> tuple[Link, ...]:
    """Each object once, owners first."""
    return tuple(dict.fromkeys(_links(obj)))


def _links(obj: Object) -> Iterator[Link]:
    namespace = obj["metadata"].get("namespace")
    for reference in obj["metadata"].get("ownerReferences") or ():
        yield Link.of_owner(reference, namespace)
    spec = obj.get("spec")
    if isinstance(spec, dict):
        for field, resource, role, is_namespaced in _OF_SPEC:
            if isinstance(name := spec.get(field), str) and name:
                yield Link(resource, name, namespace if is_namespaced else None, role)
        yield from _of_volumes(spec, namespace)
        yield from _of_references(spec, namespace)
    yield from _of_bindings(obj, namespace)
    for field in ("involvedObject", "regarding"):
        if isinstance(reference := obj.get(field), dict) and reference.get("name"):
            yield Link(_word(reference), reference["name"], reference.get("namespace"), "about")


def _of_volumes(spec: dict[str, Any], namespace: str | None) -> Iterator[Link]:
    for volume in spec.get("volumes") or ():
        for field, name, resource in _VOLUMES:
            if isinstance(source := volume.get(field), dict) and source.get(name):
                yield Link(resource, source[name], namespace, "mounts")


def _of_references(spec: dict[str, Any], namespace: str | None) -> Iterator[Link]:
    target, claim = spec.get("scaleTargetRef"), spec.get("claimRef")
    if isinstance(target, dict) and target.get("name"):
        yield Link(_word(target), target["name"], namespace, "scales")
    if isinstance(claim, dict) and claim.get("name"):
        yield Link("persistentvolumeclaims", claim["name"], claim.get("namespace"), "claim")


def _of_bindings(obj: Object, namespace: str | None) -> Iterator[Link]:
    role = obj.get("roleRef")
    if isinstance(role, dict) and role.get("name"):
        is_role = role.get("kind") == "Role"
        yield Link(
            "roles.rbac.authorization.k8s.io" if is_role else "clusterroles.rbac.authorization.k8s.io",
            role["name"],
            namespace if is_role else None,
            "grants",
        )


def _word(reference: dict[str, Any]) -> str:
    """A reference's kind with its group, as kubectl takes it."""
    group = str(reference.get("apiVersion") or "").rpartition("/")[0]
    kind = str(reference.get("kind") or "").lower()
    return f"{kind}.{group}" if group else kind
