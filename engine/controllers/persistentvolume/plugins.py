"""Provisioners that are named as plugins once built into Kubernetes were: pure (csi-translation-lib; plugins.go)."""

from __future__ import annotations

BUILT_IN = "kubernetes.io/"
_MOVED = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/azure-file": "file.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
    "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
}


class NoPluginError(Exception):
    """Nothing of that name is built in."""


def external_provisioner(name: str) -> str:
    """Who provisions for a class that names this provisioner. Raises NoPluginError."""
    if name in _MOVED:
        return _MOVED[name]
    if name.startswith(BUILT_IN):
        raise NoPluginError(f"no volume plugin matched name: {name}")
    return name
