"""Mirror Pods: the only ones that a kubelet makes, of its own node's and with no claim to anything else.

Source: plugin/pkg/admission/noderestriction/admission.go (admitPodCreate).
"""

from __future__ import annotations

from engine.api.pod_references import config_maps_of, secrets_of
from engine.api.types import Object

MIRROR = "kubernetes.io/config.mirror"
# What stands behind the volumes that need the API, in the order in which upstream asks for them.
_VOLUMES = {
    "configMap": "configmaps (via configmap volumes)",
    "secret": "secrets (via secret volumes)",
    "csi": "csidrivers (via CSI volumes)",
    "glusterfs": "endpoints (via glusterFS volumes)",
    "persistentVolumeClaim": "persistentvolumeclaims",
    "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
    "azureFile": "secrets (via azureFile volumes)",
}
_PROJECTED = {
    "configMap": "configmaps (via projected volumes)",
    "secret": "secrets (via projected volumes)",
    "serviceAccountToken": "serviceaccounts (via projected volumes)",
    "clusterTrustBundle": "clustertrustbundles",
    "podCertificate": "podcertificates",
}


def mirror_pod_refusal(pod: Object, node: str) -> str:
    """Why a node may not create a Pod; "" where it may, its owner's uid and what it refers to left aside."""
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    if MIRROR not in (metadata.get("annotations") or {}):
        return f'pod does not have "{MIRROR}" annotation, node "{node}" can only create mirror pods'
    if spec.get("nodeName") != node:
        return f'node "{node}" can only create pods with spec.nodeName set to itself'
    why = _ownership(metadata.get("ownerReferences") or [], node)
    return f'node "{node}" {why}' if why else ""


def reference_refusal(pod: Object, node: str) -> str:
    """Why a node may not create a Pod for what it refers to, asked last of all; "" where it may."""
    what = _reference(pod, pod.get("spec") or {})
    return f'node "{node}" can not create pods that reference {what}' if what else ""


def _ownership(owners: list[Object], node: str) -> str:
    if len(owners) > 1:
        return "can only create pods with a single owner reference set to itself"
    if not owners:
        return "can only create pods with an owner reference set to itself"
    owner = owners[0]
    if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != ("v1", "Node", node):
        return "can only create pods with an owner reference set to itself"
    if not owner.get("controller"):
        return "can only create pods with a controller owner reference set to itself"
    if owner.get("blockOwnerDeletion"):
        return "must not set blockOwnerDeletion on an owner reference"
    return ""


def _reference(pod: Object, spec: Object) -> str:
    """The kind of object that a Pod refers to (pkg/api/pod util.go, HasAPIObjectReference)."""
    if spec.get("serviceAccountName"):
        return "serviceaccounts"
    if secrets_of(pod):
        return "secrets"
    if config_maps_of(pod):
        return "configmaps"
    if spec.get("resourceClaims"):
        return "resourceclaims"
    return next((what for volume in spec.get("volumes") or () if (what := _of_volume(volume))), "")


def _of_volume(volume: Object) -> str:
    for field, what in _VOLUMES.items():
        if field in volume:
            return what
    for source in (volume.get("projected") or {}).get("sources") or ():
        for field, what in _PROJECTED.items():
            if field in source:
                return what
    return ""
