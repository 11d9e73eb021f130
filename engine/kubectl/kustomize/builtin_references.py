"""The fields in which resources name other resources (kustomize builtinpluginconsts, namereference.go)."""

from __future__ import annotations

from engine.kubectl.kustomize.builtin_fields import POD_SPECS
from engine.kubectl.kustomize.fields import FieldSpec
from engine.kubectl.kustomize.identity import Gvk

_RBAC = "rbac.authorization.k8s.io"
_HOOKS = "admissionregistration.k8s.io"
_CONFIG_MAPS = (
    "volumes/configMap/name",
    "containers/env/valueFrom/configMapKeyRef/name",
    "initContainers/env/valueFrom/configMapKeyRef/name",
    "containers/envFrom/configMapRef/name",
    "initContainers/envFrom/configMapRef/name",
    "volumes/projected/sources/configMap/name",
)
_SECRETS = (
    "volumes/secret/secretName",
    "containers/env/valueFrom/secretKeyRef/name",
    "initContainers/env/valueFrom/secretKeyRef/name",
    "containers/envFrom/secretRef/name",
    "initContainers/envFrom/secretRef/name",
    "imagePullSecrets/name",
    "volumes/projected/sources/secret/name",
)
_READING_CONFIG = ("Pod", "PodTemplate", "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job", "CronJob")
_OTHERS = ("Pod", "StatefulSet", "Deployment", "ReplicationController", "CronJob", "Job", "DaemonSet")
_ROLES = (("rules/resourceNames", "Role", ""), ("rules/resourceNames", "ClusterRole", ""))


def _in_pods(kinds: tuple[str, ...], *paths: str) -> list[FieldSpec]:
    return [
        FieldSpec(f"{POD_SPECS[kind]}/{path}", Gvk("", "v1" if kind == "Pod" and len(paths) > 1 else "", kind))
        for kind in kinds
        for path in paths
    ]


def _at(*places: tuple[str, str, str]) -> list[FieldSpec]:
    """Of path, kind and group."""
    return [FieldSpec(path, Gvk(group, "", kind)) for path, kind, group in places]


REFERENCES: list[tuple[Gvk, list[FieldSpec]]] = [
    *(
        (Gvk(kind=kind), _at(("spec/scaleTargetRef/name", "HorizontalPodAutoscaler", "")))
        for kind in ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")
    ),
    (
        Gvk("", "v1", "ConfigMap"),
        [
            *_in_pods(_READING_CONFIG, *_CONFIG_MAPS),
            *_at(
                ("spec/configSource/configMap", "Node", ""),
                *_ROLES,
                ("metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap", "Ingress", ""),
            ),
        ],
    ),
    (
        Gvk("", "v1", "Secret"),
        [
            *_in_pods(_READING_CONFIG, *_SECRETS),
            *_at(
                ("spec/tls/secretName", "Ingress", ""),
                ("metadata/annotations/ingress.kubernetes.io\\/auth-secret", "Ingress", ""),
                ("metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret", "Ingress", ""),
                ("metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret", "Ingress", ""),
                ("imagePullSecrets/name", "ServiceAccount", ""),
                ("parameters/secretName", "StorageClass", ""),
                ("parameters/adminSecretName", "StorageClass", ""),
                ("parameters/userSecretName", "StorageClass", ""),
                ("parameters/secretRef", "StorageClass", ""),
                *_ROLES,
                ("spec/azureFile/secretName", "PersistentVolume", ""),
            ),
            FieldSpec(
                "spec/template/spec/containers/env/valueFrom/secretKeyRef/name",
                Gvk("serving.knative.dev", "v1", "Service"),
            ),
        ],
    ),
    (
        Gvk("", "v1", "Service"),
        _at(
            ("spec/serviceName", "StatefulSet", "apps"),
            ("spec/rules/http/paths/backend/serviceName", "Ingress", ""),
            ("spec/backend/serviceName", "Ingress", ""),
            ("spec/rules/http/paths/backend/service/name", "Ingress", ""),
            ("spec/defaultBackend/service/name", "Ingress", ""),
            ("spec/service/name", "APIService", "apiregistration.k8s.io"),
            ("webhooks/clientConfig/service", "ValidatingWebhookConfiguration", _HOOKS),
            ("webhooks/clientConfig/service", "MutatingWebhookConfiguration", _HOOKS),
        ),
    ),
    (Gvk(_RBAC, "", "Role"), _at(("roleRef/name", "RoleBinding", _RBAC))),
    (
        Gvk(_RBAC, "", "ClusterRole"),
        _at(("roleRef/name", "RoleBinding", _RBAC), ("roleRef/name", "ClusterRoleBinding", _RBAC)),
    ),
    (
        Gvk("", "v1", "ServiceAccount"),
        [
            *_at(("subjects", "RoleBinding", _RBAC), ("subjects", "ClusterRoleBinding", _RBAC)),
            *_in_pods(_OTHERS, "serviceAccountName"),
        ],
    ),
    (Gvk("", "v1", "PersistentVolumeClaim"), _in_pods(_OTHERS, "volumes/persistentVolumeClaim/claimName")),
    (
        Gvk("", "v1", "PersistentVolume"),
        _at(("spec/volumeName", "PersistentVolumeClaim", ""), ("rules/resourceNames", "ClusterRole", "")),
    ),
    (
        Gvk("storage.k8s.io", "v1", "StorageClass"),
        _at(
            ("spec/storageClassName", "PersistentVolume", ""),
            ("spec/storageClassName", "PersistentVolumeClaim", ""),
            ("spec/volumeClaimTemplates/spec/storageClassName", "StatefulSet", ""),
        ),
    ),
    (Gvk("scheduling.k8s.io", "v1", "PriorityClass"), _in_pods(_OTHERS, "priorityClassName")),
]
