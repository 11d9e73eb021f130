"""In-tree volumes that CSI drivers have taken over (k8s.io/csi-translation-lib)."""

from __future__ import annotations

from engine.api.types import Object

# By the field of a Pod's volume or of a PersistentVolume's spec.
MIGRATED_DRIVERS = {
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
    return next((driver for field, driver in MIGRATED_DRIVERS.items() if volume.get(field)), "")
