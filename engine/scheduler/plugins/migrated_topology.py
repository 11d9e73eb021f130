"""Where an in-tree volume is reached from once a CSI driver has taken it over: its zones under the driver's own labels.

Source: k8s.io/csi-translation-lib/plugins (translateTopologyFromInTreeToCSI), which VolumeBinding asks of volumes that
are bound, on nodes whose CSINode says that they have given up the in-tree plugin (binder.go, tryTranslatePVToCSI).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.api.types import GVR, Object
from engine.scheduler.migrated_volumes import MIGRATED_PLUGINS

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

CSI_NODES = GVR("storage.k8s.io", "v1", "csinodes")

_ZONE, _REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_BETA_ZONE, _BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"

# By the field of a volume's source: the in-tree plugin, and what its driver calls zones and, if it has them, regions.
_TAKEN_OVER = {
    "awsElasticBlockStore": ("kubernetes.io/aws-ebs", "topology.ebs.csi.aws.com/zone", ""),
    "cinder": ("kubernetes.io/cinder", "topology.cinder.csi.openstack.org/zone", ""),
    "gcePersistentDisk": ("kubernetes.io/gce-pd", "topology.gke.io/zone", ""),
    "vsphereVolume": (
        "kubernetes.io/vsphere-volume",
        "topology.csi.vmware.com/zone",
        "topology.csi.vmware.com/region",
    ),
}


def may_be_translated(volume: Object) -> bool:
    """Whether what a volume says of nodes may mean another thing on one node than on another."""
    return _source(volume) is not None


def seen_on(volume: Object, node: Object, handle: Handle) -> Object:
    """The volume as the node has to read it."""
    found = _source(volume)
    if found is None:
        return volume
    plugin, zone, region = found
    csi_node = handle.lister(CSI_NODES).get(node["metadata"]["name"])
    annotations = (csi_node["metadata"].get("annotations") or {}) if csi_node is not None else {}
    if plugin not in annotations.get(MIGRATED_PLUGINS, "").split(","):
        return volume
    return _translated(volume, zone, region)


def _source(volume: Object) -> tuple[str, str, str] | None:
    spec = volume.get("spec") or {}
    return next((names for field, names in _TAKEN_OVER.items() if spec.get(field)), None)


def _translated(volume: Object, zone: str, region: str) -> Object:
    labels = volume["metadata"].get("labels") or {}
    terms = (((volume["spec"].get("nodeAffinity") or {}).get("required")) or {}).get("nodeSelectorTerms") or []
    own_zone, own_region = _own_labels(terms, labels)
    terms = _renamed(terms, labels, own_zone, zone)
    if region:
        terms = _renamed(terms, labels, own_region, region)
    elif own_region == _BETA_REGION:
        # Nodes may have the newer label alone.
        terms = _with_key(terms, _BETA_REGION, _REGION)
    affinity = {"required": {"nodeSelectorTerms": terms}} if terms else None
    return {**volume, "spec": {**volume["spec"], "nodeAffinity": affinity}}


def _own_labels(terms: list[Object], labels: dict[str, str]) -> tuple[str, str]:
    """Which of the labels for zones and regions the volume uses: in its node affinity, or else itself."""
    keys = {expression.get("key") for term in terms for expression in term.get("matchExpressions") or ()}
    beta = _BETA_ZONE in keys if keys & {_ZONE, _BETA_ZONE} else _BETA_ZONE in labels and _ZONE not in labels
    beta = beta and _ZONE not in keys
    return (_BETA_ZONE, _BETA_REGION) if beta else (_ZONE, _REGION)


def _renamed(terms: list[Object], labels: dict[str, str], old: str, new: str) -> list[Object]:
    """The terms with the driver's label; what the node affinity does not say is taken from the volume's own label."""
    expressions = [e for term in terms for e in term.get("matchExpressions") or () if e.get("key") == old]
    if any(expression.get("values") for expression in expressions):
        return _with_key(terms, old, new)
    values = sorted({part.strip() for part in labels.get(old, "").split("__")} - {""})
    if not values:
        return terms
    added = {"key": new, "operator": "In", "values": values}
    return [{**term, "matchExpressions": [*(term.get("matchExpressions") or ()), added]} for term in terms or [{}]]


def _with_key(terms: list[Object], old: str, new: str) -> list[Object]:
    def renamed(expression: Object) -> Object:
        return {**expression, "key": new} if expression.get("key") == old else expression

    return [{**term, "matchExpressions": [renamed(e) for e in term.get("matchExpressions") or ()]} for term in terms]
