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


def migrated_driver(volume: Object) -> str:
    """The driver of a Pod's volume or of a PersistentVolume's spec; "" for one that stays in the tree."""
    return next((driver for field, driver in _DRIVERS.items() if volume.get(field)), "")
