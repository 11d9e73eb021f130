"""The sources of volumes: what each is called and which of its fields kubectl shows.

Source of the behaviour: kubectl pkg/describe/describe.go, the print...VolumeSource functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import NamedTuple

from engine.api.types import Object
from engine.kubectl.describe.writer import NONE, UNSET, true_false


class How(Enum):
    """How a field is shown; lists, maps and references as Go prints them."""

    PLAIN = auto()
    BOOL = auto()
    LIST = auto()
    JOINED = auto()
    MAP = auto()
    LOCAL_SECRET = auto()
    SECRET = auto()


class Field(NamedTuple):
    """`key` is a field of the source, `a.b` one of a field; `missing` is shown where it is not set."""

    title: str
    key: str
    how: How = How.PLAIN
    missing: str = ""


class Source(NamedTuple):
    text: str
    shown: tuple[Field, ...] = ()

    def fields(self, source: Object) -> Iterator[tuple[str, str]]:
        for field in self.shown:
            value: object = source
            for key in field.key.split("."):
                value = value.get(key) if isinstance(value, dict) else None
            yield field.title, _shown(field, value)


def _shown(field: Field, value: object) -> str:
    match field.how:
        case How.BOOL:
            return true_false(value)
        case How.LIST:
            return f"[{' '.join(item or '' for item in value)}]" if isinstance(value, list) else "[]"
        case How.JOINED:
            return ", ".join(value) if isinstance(value, list) else ""
        case How.MAP:
            pairs = sorted(value.items()) if isinstance(value, dict) else ()
            return f"map[{' '.join(f'{key}:{item}' for key, item in pairs)}]"
        case How.LOCAL_SECRET | How.SECRET:
            return _reference(value, namespaced=field.how is How.SECRET)
    return field.missing if value is None else str(value)


def _reference(value: object, *, namespaced: bool) -> str:
    """As the generated String method of a reference writes it."""
    if not isinstance(value, dict):
        return "nil"
    if namespaced:
        return f"&SecretReference{{Name:{value.get('name', '')},Namespace:{value.get('namespace', '')},}}"
    return f"&LocalObjectReference{{Name:{value.get('name', '')},}}"


_READ_ONLY = Field("ReadOnly", "readOnly", How.BOOL)
_FS_TYPE = Field("FSType", "fsType")
_OPTIONAL = Field("Optional", "optional", How.BOOL)
_DISK = (_FS_TYPE, Field("Partition", "partition", missing="0"), _READ_ONLY)
_CSI = "CSI (a Container Storage Interface (CSI) volume source)"
_GLUSTERFS = "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)"
_ISCSI = "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the pod)"
_RBD = "RBD (a Rados Block Device mount on the host that shares a pod's lifetime)"
_CEPHFS = "CephFS (a CephFS mount on the host that shares a pod's lifetime)"
_FLEX = "FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)"
_CINDER = "Cinder (a Persistent Disk resource in OpenStack)"
_SCALE_IO = "ScaleIO (a persistent volume backed by a block device in ScaleIO)"
_AZURE_FILE = "AzureFile (an Azure File Service mount on the host and bind mount to the pod)"
_CLAIM = "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)"
_EPHEMERAL = "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)"


def _iscsi(secret: How) -> Source:
    return Source(
        _ISCSI,
        (
            Field("TargetPortal", "targetPortal"),
            Field("IQN", "iqn"),
            Field("Lun", "lun", missing="0"),
            Field("ISCSIInterface", "iscsiInterface"),
            _FS_TYPE,
            _READ_ONLY,
            Field("Portals", "portals", How.LIST),
            Field("DiscoveryCHAPAuth", "chapAuthDiscovery", How.BOOL),
            Field("SessionCHAPAuth", "chapAuthSession", How.BOOL),
            Field("SecretRef", "secretRef", secret),
            Field("InitiatorName", "initiatorName", missing=NONE),
        ),
    )


def _rbd(secret: How) -> Source:
    return Source(
        _RBD,
        (
            Field("CephMonitors", "monitors", How.LIST),
            Field("RBDImage", "image"),
            _FS_TYPE,
            Field("RBDPool", "pool"),
            Field("RadosUser", "user"),
            Field("Keyring", "keyring"),
            Field("SecretRef", "secretRef", secret),
            _READ_ONLY,
        ),
    )


def _cephfs(secret: How) -> Source:
    return Source(
        _CEPHFS,
        (
            Field("Monitors", "monitors", How.LIST),
            Field("Path", "path"),
            Field("User", "user"),
            Field("SecretFile", "secretFile"),
            Field("SecretRef", "secretRef", secret),
            _READ_ONLY,
        ),
    )


def _flex(secret: How) -> Source:
    return Source(
        _FLEX,
        (
            Field("Driver", "driver"),
            _FS_TYPE,
            Field("SecretRef", "secretRef", secret),
            _READ_ONLY,
            Field("Options", "options", How.MAP),
        ),
    )


def _cinder(secret: How) -> Source:
    fields = (Field("VolumeID", "volumeID"), _FS_TYPE, _READ_ONLY, Field("SecretRef", "secretRef", secret))
    return Source(_CINDER, fields)


def _scale_io(*secret: Field) -> Source:
    return Source(
        _SCALE_IO,
        (
            Field("Gateway", "gateway"),
            Field("System", "system"),
            Field("Protection Domain", "protectionDomain"),
            Field("Storage Pool", "storagePool"),
            Field("Storage Mode", "storageMode"),
            Field("VolumeName", "volumeName"),
            *secret,
            _FS_TYPE,
            _READ_ONLY,
        ),
    )


_SHARED: Mapping[str, Source] = {
    "hostPath": Source(
        "HostPath (bare host directory volume)", (Field("Path", "path"), Field("HostPathType", "type", missing=NONE))
    ),
    "nfs": Source(
        "NFS (an NFS mount that lasts the lifetime of a pod)",
        (Field("Server", "server"), Field("Path", "path"), _READ_ONLY),
    ),
    "gcePersistentDisk": Source(
        "GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)", (Field("PDName", "pdName"), *_DISK)
    ),
    "awsElasticBlockStore": Source(
        "AWSElasticBlockStore (a Persistent Disk resource in AWS)", (Field("VolumeID", "volumeID"), *_DISK)
    ),
    "quobyte": Source(
        "Quobyte (a Quobyte mount on the host that shares a pod's lifetime)",
        (Field("Registry", "registry"), Field("Volume", "volume"), _READ_ONLY),
    ),
    "portworxVolume": Source("PortworxVolume (a Portworx Volume resource)", (Field("VolumeID", "volumeID"),)),
    "azureDisk": Source(
        "AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)",
        (
            Field("DiskName", "diskName"),
            Field("DiskURI", "diskURI"),
            Field("Kind", "kind"),
            _FS_TYPE,
            Field("CachingMode", "cachingMode"),
            _READ_ONLY,
        ),
    ),
    "vsphereVolume": Source(
        "vSphereVolume (a Persistent Disk resource in vSphere)",
        (Field("VolumePath", "volumePath"), _FS_TYPE, Field("StoragePolicyName", "storagePolicyName")),
    ),
    "photonPersistentDisk": Source(
        "PhotonPersistentDisk (a Persistent Disk resource in photon platform)", (Field("PdID", "pdID"), _FS_TYPE)
    ),
    "storageos": Source(
        "StorageOS (a StorageOS Persistent Disk resource)",
        (
            Field("VolumeName", "volumeName"),
            Field("VolumeNamespace", "volumeNamespace"),
            _FS_TYPE,
            _READ_ONLY,
        ),
    ),
    "fc": Source(
        "FC (a Fibre Channel disk)",
        (
            Field("TargetWWNs", "targetWWNs", How.JOINED),
            Field("LUN", "lun", missing=NONE),
            _FS_TYPE,
            _READ_ONLY,
        ),
    ),
    "flocker": Source(
        "Flocker (a Flocker volume mounted by the Flocker agent)",
        (Field("DatasetName", "datasetName"), Field("DatasetUUID", "datasetUUID")),
    ),
}
OF_PODS: Mapping[str, Source] = {
    **_SHARED,
    "emptyDir": Source(
        "EmptyDir (a temporary directory that shares a pod's lifetime)",
        (Field("Medium", "medium"), Field("SizeLimit", "sizeLimit", missing=UNSET)),
    ),
    "gitRepo": Source(
        "GitRepo (a volume that is pulled from git when the pod is created)",
        (Field("Repository", "repository"), Field("Revision", "revision")),
    ),
    "secret": Source("Secret (a volume populated by a Secret)", (Field("SecretName", "secretName"), _OPTIONAL)),
    "configMap": Source("ConfigMap (a volume populated by a ConfigMap)", (Field("Name", "name"), _OPTIONAL)),
    "persistentVolumeClaim": Source(_CLAIM, (Field("ClaimName", "claimName"), _READ_ONLY)),
    "ephemeral": Source(_EPHEMERAL),
    "downwardAPI": Source("DownwardAPI (a volume populated by information about the pod)"),
    "projected": Source("Projected (a volume that contains injected data from multiple sources)"),
    "image": Source(
        "Image (a container image or OCI artifact)",
        (Field("Reference", "reference"), Field("PullPolicy", "pullPolicy")),
    ),
    "csi": Source(_CSI, (Field("Driver", "driver"), _FS_TYPE, _READ_ONLY)),
    "glusterfs": Source(_GLUSTERFS, (Field("EndpointsName", "endpoints"), Field("Path", "path"), _READ_ONLY)),
    "iscsi": _iscsi(How.LOCAL_SECRET),
    "rbd": _rbd(How.LOCAL_SECRET),
    "cephfs": _cephfs(How.LOCAL_SECRET),
    "flexVolume": _flex(How.LOCAL_SECRET),
    "cinder": _cinder(How.LOCAL_SECRET),
    "scaleIO": _scale_io(),
    "azureFile": Source(_AZURE_FILE, (Field("SecretName", "secretName"), Field("ShareName", "shareName"), _READ_ONLY)),
}
OF_PERSISTENT_VOLUMES: Mapping[str, Source] = {
    **_SHARED,
    "local": Source("LocalVolume (a persistent volume backed by local storage on a node)", (Field("Path", "path"),)),
    "csi": Source(_CSI, (Field("Driver", "driver"), _FS_TYPE, Field("VolumeHandle", "volumeHandle"), _READ_ONLY)),
    "glusterfs": Source(
        _GLUSTERFS,
        (
            Field("EndpointsName", "endpoints"),
            Field("EndpointsNamespace", "endpointsNamespace", missing=UNSET),
            Field("Path", "path"),
            _READ_ONLY,
        ),
    ),
    "iscsi": _iscsi(How.SECRET),
    "rbd": _rbd(How.SECRET),
    "cephfs": _cephfs(How.SECRET),
    "flexVolume": _flex(How.SECRET),
    "cinder": _cinder(How.SECRET),
    "scaleIO": _scale_io(Field("SecretName", "secretRef.name"), Field("SecretNamespace", "secretRef.namespace")),
    "azureFile": Source(
        _AZURE_FILE,
        (
            Field("SecretName", "secretName"),
            Field("SecretNamespace", "secretNamespace"),
            Field("ShareName", "shareName"),
            _READ_ONLY,
        ),
    ),
}
