"""`namePrefix`, `nameSuffix` and `namespace`.

Source of the behaviour: kustomize api/internal/builtins (PrefixTransformer.go, SuffixTransformer.go,
NamespaceTransformer.go) and api/filters/namespace.
"""

from __future__ import annotations

from typing import Any

from engine.api.golang.json import written
from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.fields import FieldSpec, change
from engine.kubectl.kustomize.resource import Resource
from engine.kubectl.kustomize.resources import Resources

_KEEPING_THEIR_NAMES = ("CustomResourceDefinition", "APIService", "Namespace")
_ROLE_BINDINGS = ("RoleBinding", "ClusterRoleBinding")
_NAMESPACE = "metadata/namespace"


def add_prefix(resources: Resources, prefix: str, specs: list[FieldSpec]) -> None:
    for resource in resources:
        if prefix and not _keeps_name(resource):
            _rename(resource, specs, prefix=prefix)
            resource.prefixes.append(prefix)


def add_suffix(resources: Resources, suffix: str, specs: list[FieldSpec]) -> None:
    for resource in resources:
        if suffix and not _keeps_name(resource):
            _rename(resource, specs, suffix=suffix)
            resource.suffixes.append(suffix)


def _keeps_name(resource: Resource) -> bool:
    return resource.kind in _KEEPING_THEIR_NAMES


def _rename(resource: Resource, specs: list[FieldSpec], *, prefix: str = "", suffix: str = "") -> None:
    for spec in specs:
        if spec.path == "metadata/name" and resource.gvk.selected_by(spec.gvk):
            resource.remember()
        change(resource, spec, lambda value: f"{prefix}{value if value is not None else ''}{suffix}")


def set_namespace(
    resources: Resources,
    namespace: str,
    specs: list[FieldSpec],
    *,
    subjects: str = "defaultOnly",
    unset_only: bool = False,
) -> None:
    """Put all that has a namespace into this one."""

    def put(value: Any) -> Any:
        return value if unset_only and value else namespace

    for resource in resources:
        if not resource.obj:
            continue
        resource.remember()
        if not resource.gvk.cluster_scoped:
            change(resource, FieldSpec(_NAMESPACE, create=True), put, new=str)
        if resource.kind in _ROLE_BINDINGS:
            _bind(resource, put, subjects)
        for spec in specs:
            if spec.path == _NAMESPACE or (spec.path == "subjects" and spec.gvk.kind in _ROLE_BINDINGS):
                continue
            change(resource, spec, put, new=str)
        same = [other for other in resources if other.id.equals(resource.id)]
        if len(same) != 1:
            shown = " ".join(written(other.with_history) for other in same)
            raise BuildError(f"namespace transformation produces ID conflict: [{shown}]")


def _bind(resource: Resource, put: Any, subjects: str) -> None:
    """The namespaces of a role binding's accounts: of those called `default`, or of all."""
    found = resource.obj.get("subjects")
    for subject in found if isinstance(found, list) else ():
        chosen = (
            subject.get("name") == "default"
            if subjects == "defaultOnly"
            else subjects == "allServiceAccounts" and subject.get("kind") == "ServiceAccount"
        )
        if chosen:
            subject["namespace"] = put(subject.get("namespace"))
