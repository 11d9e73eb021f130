"""The three schemes of a kube-apiserver: which kinds each knows, also in versions that are served no more.

CustomResourceDefinitions and APIServices have servers of their own inside the process, with schemes that hold their
group and the types without a version; all else is in the legacy scheme. A scheme is named by the file and line that
made it, as Go's runtime tells them. Sources: pkg/api/legacyscheme and pkg/controlplane/import_known_versions.go,
apiextensions-apiserver pkg/apiserver/apiserver.go, kube-aggregator pkg/apiserver/scheme/scheme.go, apimachinery
pkg/apis/meta/v1/register.go.
"""

from __future__ import annotations

from typing import Final

from engine.api.schema import Definitions
from engine.api.types import GVK

OPTIONS_SCHEME: Final = "pkg/apis/meta/internalversion/scheme/register.go:27"
_LEGACY = "pkg/api/legacyscheme/scheme.go:30"
_OWN = {
    "apiextensions.k8s.io": "pkg/apiserver/apiserver.go:57",
    "apiregistration.k8s.io": "pkg/apiserver/scheme/scheme.go:32",
}
# What is registered without a version, and what in every version.
_UNVERSIONED = frozenset({"Status", "APIVersions", "APIGroupList", "APIGroup", "APIResourceList"})
_EVERYWHERE = frozenset(
    {"WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions"}
)
# Kinds in versions that are served no more, each with its list.
_STILL = {
    "apiextensions.k8s.io/v1beta1": ("CustomResourceDefinition",),
    "apiregistration.k8s.io/v1beta1": ("APIService",),
    "apps/v1beta1": ("ControllerRevision", "Deployment", "DeploymentRollback", "Scale", "StatefulSet"),
    "apps/v1beta2": ("ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "Scale", "StatefulSet"),
    "autoscaling/v2beta1": ("HorizontalPodAutoscaler",),
    "autoscaling/v2beta2": ("HorizontalPodAutoscaler",),
    "batch/v1beta1": ("CronJob",),
    "extensions/v1beta1": (
        "DaemonSet", "Deployment", "DeploymentRollback", "Ingress", "NetworkPolicy", "ReplicaSet", "Scale",
    ),
    "networking.k8s.io/v1beta1": ("Ingress", "IngressClass"),
    "policy/v1beta1": ("Eviction", "PodDisruptionBudget"),
    "rbac.authorization.k8s.io/v1alpha1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "rbac.authorization.k8s.io/v1beta1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "storage.k8s.io/v1beta1": ("CSIDriver", "CSINode", "CSIStorageCapacity", "StorageClass", "VolumeAttachment"),
}  # fmt: skip


def scheme_of(group: str) -> str:
    """The name of the scheme by which a group's objects are read."""
    return _OWN.get(group, _LEGACY)


def internal_package(group: str) -> str:
    """The Go package of a group's types without a version (pkg/apis)."""
    return "core" if group in ("", "events.k8s.io") else group.partition(".")[0]


def registered(definitions: Definitions, found: GVK, group: str) -> bool:
    """Whether the scheme by which a group's objects are read knows a kind."""
    if found.kind in _EVERYWHERE and (found.api_version == "v1" or _has_version(definitions, found)):
        return found.api_version == "v1" or _shared(found.group, group)
    if found.api_version == "v1" and found.kind in _UNVERSIONED:
        return True
    return _shared(found.group, group) and (definitions.kind(found) is not None or _still(found))


def _shared(one: str, other: str) -> bool:
    return scheme_of(one) == scheme_of(other)


def _still(found: GVK) -> bool:
    return found.kind.removesuffix("List") in _STILL.get(found.api_version, ())


def _has_version(definitions: Definitions, found: GVK) -> bool:
    return found.api_version in _STILL or any(
        (known.group, known.version) == (found.group, found.version) for known in definitions.kinds
    )
