"""Mirror Pods: the only ones that a kubelet makes, of its own node's and with no claim to anything else.

Source: plugin/pkg/admission/noderestriction/admission.go (admitPodCreate).
"""

from __future__ import annotations

from engine.api.pod_references import config_maps_of, secrets_of, trusts_bundles
from engine.api.types import Object

MIRROR = "kubernetes.io/config.mirror"


def mirror_pod_refusal(pod: Object, node: str) -> str:
    """Why a node may not create a Pod; "" where it may, its owner's uid left aside."""
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    if MIRROR not in (metadata.get("annotations") or {}):
        return f'pod does not have "{MIRROR}" annotation, node "{node}" can only create mirror pods'
    if spec.get("nodeName") != node:
        return f'node "{node}" can only create pods with spec.nodeName set to itself'
    if why := _ownership(metadata.get("ownerReferences") or [], node):
        return f'node "{node}" {why}'
    if what := _reference(pod, spec):
        return f'node "{node}" can not create pods that reference {what}'
    return ""


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
    if spec.get("serviceAccountName"):
        return "a service account"
    if secrets_of(pod):
        return "secrets"
    if config_maps_of(pod):
        return "configmaps"
    if trusts_bundles(pod):
        return "clustertrustbundles"
    if any("persistentVolumeClaim" in volume for volume in spec.get("volumes") or ()):
        return "persistentvolumeclaims"
    return ""
