"""The fields that transformers change unless a kustomization's `configurations` say more.

Source of the facts: kustomize api/internal/konfig/builtinpluginconsts.
"""

from __future__ import annotations

from engine.kubectl.kustomize.fields import FieldSpec
from engine.kubectl.kustomize.identity import Gvk

# Where a kind has the spec of a Pod.
POD_SPECS = {
    "Pod": "spec",
    "PodTemplate": "template/spec",
    "Deployment": "spec/template/spec",
    "ReplicaSet": "spec/template/spec",
    "ReplicationController": "spec/template/spec",
    "DaemonSet": "spec/template/spec",
    "StatefulSet": "spec/template/spec",
    "Job": "spec/template/spec",
    "CronJob": "spec/jobTemplate/spec/template/spec",
}
_SELECTING_PODS = (
    "affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "topologySpreadConstraints/labelSelector/matchLabels",
)


def _spec(path: str, kind: str = "", group: str = "", version: str = "", *, create: bool = False) -> FieldSpec:
    return FieldSpec(path, Gvk(group, version, kind), create)


def _templates(field: str) -> list[FieldSpec]:
    """Of the metadata of Pods within workloads, and of the jobs of a CronJob."""
    return [
        _spec(f"spec/template/metadata/{field}", "ReplicationController", version="v1", create=True),
        _spec(f"spec/template/metadata/{field}", "Deployment", create=True),
        _spec(f"spec/template/metadata/{field}", "ReplicaSet", create=True),
        _spec(f"spec/template/metadata/{field}", "DaemonSet", create=True),
        _spec(f"spec/template/metadata/{field}", "StatefulSet", "apps", create=True),
        _spec(f"spec/template/metadata/{field}", "Job", "batch", create=True),
        _spec(f"spec/jobTemplate/metadata/{field}", "CronJob", "batch", create=True),
        _spec(f"spec/jobTemplate/spec/template/metadata/{field}", "CronJob", "batch", create=True),
    ]


METADATA_LABELS = [_spec("metadata/labels", create=True)]
TEMPLATE_LABELS = [
    *_templates("labels"),
    _spec("spec/volumeClaimTemplates[]/metadata/labels", "StatefulSet", "apps", create=True),
]
COMMON_LABELS = [
    *METADATA_LABELS,
    _spec("spec/selector", "Service", version="v1", create=True),
    _spec("spec/selector", "ReplicationController", version="v1", create=True),
    _spec("spec/selector/matchLabels", "Deployment", create=True),
    _spec("spec/selector/matchLabels", "ReplicaSet", create=True),
    _spec("spec/selector/matchLabels", "DaemonSet", create=True),
    _spec("spec/selector/matchLabels", "StatefulSet", "apps", create=True),
    *(
        _spec(f"spec/template/spec/{path}", kind, "apps")
        for kind in ("Deployment", "StatefulSet")
        for path in _SELECTING_PODS
    ),
    _spec("spec/selector/matchLabels", "Job", "batch"),
    _spec("spec/jobTemplate/spec/selector/matchLabels", "CronJob", "batch"),
    _spec("spec/selector/matchLabels", "PodDisruptionBudget", "policy"),
    _spec("spec/podSelector/matchLabels", "NetworkPolicy", "networking.k8s.io"),
    _spec("spec/ingress/from/podSelector/matchLabels", "NetworkPolicy", "networking.k8s.io"),
    _spec("spec/egress/to/podSelector/matchLabels", "NetworkPolicy", "networking.k8s.io"),
    *TEMPLATE_LABELS,
]
COMMON_ANNOTATIONS = [_spec("metadata/annotations", create=True), *_templates("annotations")]
NAMESPACE = [
    _spec("metadata/name", "Namespace", create=True),
    _spec("spec/service/namespace", "APIService", "apiregistration.k8s.io", create=True),
    _spec("spec/conversion/webhook/clientConfig/service/namespace", "CustomResourceDefinition", "apiextensions.k8s.io"),
]
NAME = [_spec("metadata/name")]
REPLICAS = [
    _spec("spec/replicas", kind, create=True)
    for kind in ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
]
IMAGES = [
    _spec(f"{pod}/{path}", create=True)
    for pod in ("spec", "spec/template/spec")
    for path in ("containers[]/image", "initContainers[]/image", "volumes[]/image/reference")
]
_VARIABLES_IN_PODS = tuple(
    f"{containers}/{path}"
    for containers in ("containers", "initContainers")
    for path in ("args", "command", "env/value", "volumeMounts/mountPath")
)
VARIABLES = [
    *(
        _spec(f"{POD_SPECS[kind]}/{path}", kind)
        for kind in ("CronJob", "DaemonSet", "Deployment", "Job", "Pod", "ReplicaSet", "StatefulSet")
        for path in (*_VARIABLES_IN_PODS, *(("volumes/nfs/server",) if kind != "StatefulSet" else ()))
    ),
    _spec("spec/rules/host", "Ingress"),
    _spec("spec/tls/hosts", "Ingress"),
    _spec("spec/tls/secretName", "Ingress"),
    _spec("spec/ports/port", "Service"),
    _spec("spec/ports/targetPort", "Service"),
    _spec("spec/volumeClaimTemplates/spec/nfs/server", "StatefulSet"),
    _spec("spec/nfs/server", "PersistentVolume"),
    _spec("metadata/labels"),
    _spec("metadata/annotations"),
]
