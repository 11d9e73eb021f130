"""In-tree volumes that CSI drivers have taken over (k8s.io/csi-translation-lib)."""

from __future__ import annotations

from engine.api.types import Object

# What nodes tell of the in-tree plugins that they have given up (CSINode).
MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"

_DRIVERS = {
    "awsElasticBlockStore": "ebs.csi.aws.com",
    "azureDisk": "disk.csi.azure.com",
    "azureFile": "file.csi.azure.com",
    "cinder": "cinder.csi.openstack.org",
    "gcePersistentDisk": "pd.csi.storage.gke.io",
    "portworxVolume": "pxd.portworx.com",
    "vsphereVolume": "csi.vsphere.vmware.com",
}

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


def migrated_driver(volume: Object) -> str:
    """The driver of a Pod's volume or of a PersistentVolume's spec; "" for one that stays in the tree."""
    return next((driver for field, driver in _DRIVERS.items() if volume.get(field)), "")


def limited_volume(volume: Object) -> dict[str, str]:
    """The driver that attaches a Pod's volume or what a PersistentVolume's spec tells of, by a name that no two volumes
    share; nothing for one that no driver attaches.
    """
    for field, name in _LIMITED.items():
        if found := volume.get(field):
            return {f"{_DRIVERS[field]}/{found.get(name, '')}": _DRIVERS[field]}
    return {}


def provisioning_driver(provisioner: str) -> str:
    """The driver whose limit a volume of the provisioner will count against; "" for none."""
    return "" if provisioner in _UNLIMITED else _PROVISIONERS.get(provisioner, provisioner)
