"""Which driver's limit an in-tree volume counts against (k8s.io/csi-translation-lib, nodevolumelimits)."""

from __future__ import annotations

from engine.api.csi_migration import MIGRATED_DRIVERS
from engine.api.types import Object

# What nodes tell of the in-tree plugins that they have given up (CSINode).
MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"

# What names a volume of those that count against the limit of the driver (nodevolumelimits' isCSIMigrationOn).
_LIMITED = {
    "awsElasticBlockStore": "volumeID",
    "azureDisk": "diskURI",
    "cinder": "volumeID",
    "gcePersistentDisk": "pdName",
    "portworxVolume": "volumeID",
}
_PROVISIONERS = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
}
_UNLIMITED = frozenset({"kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"})


def limited_volume(volume: Object) -> dict[str, str]:
    """The driver that attaches a Pod's volume or what a PersistentVolume's spec tells of, by a name that no two volumes
    share; nothing for one that no driver attaches.
    """
    for field, name in _LIMITED.items():
        if found := volume.get(field):
            return {f"{MIGRATED_DRIVERS[field]}/{found.get(name, '')}": MIGRATED_DRIVERS[field]}
    return {}


def provisioning_driver(provisioner: str) -> str:
    """The driver whose limit a volume of the provisioner will count against; "" for none."""
    return "" if provisioner in _UNLIMITED else _PROVISIONERS.get(provisioner, provisioner)
