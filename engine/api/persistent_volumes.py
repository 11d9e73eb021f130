"""PersistentVolumes and their claims: what they and their annotations are called, and what all who handle them read of
them (component-helpers storage/volume pv_helpers.go; pkg/apis/core/v1/helper)."""

from __future__ import annotations

from engine.api.quantity import Quantity
from engine.api.types import GVR, Object

CLAIMS = GVR("", "v1", "persistentvolumeclaims")
VOLUMES = GVR("", "v1", "persistentvolumes")
STORAGE_CLASSES = GVR("storage.k8s.io", "v1", "storageclasses")

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
_CSI_SECRETS = ("nodeStageSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef")
_WITH_SECRETS = ("cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos")


def class_of(obj: Object) -> str:
    """The storage class of a claim or of a volume. The beta annotation wins, even where it says that there is none."""
    annotated = (obj["metadata"].get("annotations") or {}).get(BETA_CLASS)
    return str(annotated if annotated is not None else (obj.get("spec") or {}).get("storageClassName") or "")


def requested(claim: Object) -> Quantity:
    return Quantity.parse(((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage", "0"))


def capacity(volume: Object) -> Quantity:
    return Quantity.parse((volume["spec"].get("capacity") or {}).get("storage", "0"))


def secrets_for_kubelets(volume: Object) -> set[tuple[str, str]]:
    """The Secrets of a volume that a kubelet needs, by namespace and name (pkg/api/v1/persistentvolume util.go)."""
    spec = volume.get("spec") or {}
    own = (spec.get("claimRef") or {}).get("namespace", "")
    references = [(spec.get("csi") or {}).get(field) for field in _CSI_SECRETS]
    references += [(spec.get(kind) or {}).get("secretRef") for kind in _WITH_SECRETS]
    found = {(each.get("namespace") or own, each.get("name", "")) for each in references if each}
    azure = spec.get("azureFile") or {}
    if azure.get("secretName"):
        found.add((azure.get("secretNamespace") or own, azure["secretName"]))
    return found
