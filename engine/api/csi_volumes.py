"""What CSI volumes are called where all plugins' volumes are told of, as in a Node's `status.volumesAttached`
(pkg/volume/util GetUniqueVolumeName, pkg/volume/csi csi_plugin.go GetVolumeName)."""

from __future__ import annotations

from engine.api.types import GVR, Object

CSI_DRIVERS = GVR("storage.k8s.io", "v1", "csidrivers")


def unique_name(volume: Object) -> str:
    """Of a PersistentVolume with a `csi` source."""
    csi = volume["spec"]["csi"]
    return f"kubernetes.io/csi/{csi['driver']}^{csi['volumeHandle']}"


def needs_attachment(driver: Object | None) -> bool:
    """By its CSIDriver; one that has none is attached."""
    return driver is None or driver["spec"].get("attachRequired") is not False
