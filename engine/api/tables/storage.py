"""The tables of volumes, claims, storage classes and CSI (printers.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.default_class import STORAGE, default_storage_class
from engine.api.persistent_volumes import class_of
from engine.api.tables.columns import AGE, META, NAME, Column, Field, Row, kind_table
from engine.api.tables.formats import access_modes, quantity


def _phase(row: Row) -> str:
    return "Terminating" if row.deleting else str(row.status.get("phase", ""))


def _claim(row: Row) -> str:
    claim = row.spec.get("claimRef")
    return "" if claim is None else f"{claim.get('namespace', '')}/{claim.get('name', '')}"


_VOLUME_SPEC = "api.core.v1.PersistentVolumeSpec"
_VOLUME_STATUS = "api.core.v1.PersistentVolumeStatus"
PERSISTENT_VOLUMES = kind_table(
    NAME,
    Column(
        "Capacity",
        lambda row: quantity((row.spec.get("capacity") or {}).get("storage")),
        Field(_VOLUME_SPEC, "capacity"),
    ),
    Column(
        "Access Modes", lambda row: access_modes(row.spec.get("accessModes") or ()), Field(_VOLUME_SPEC, "accessModes")
    ),
    Column(
        "Reclaim Policy",
        lambda row: row.spec.get("persistentVolumeReclaimPolicy", ""),
        Field(_VOLUME_SPEC, "persistentVolumeReclaimPolicy"),
    ),
    Column("Status", _phase, Field(_VOLUME_STATUS, "phase")),
    Column("Claim", _claim, Field(_VOLUME_SPEC, "claimRef")),
    Column("StorageClass", lambda row: class_of(row.object), "StorageClass of the pv"),
    Column(
        "VolumeAttributesClass",
        lambda row: row.spec.get("volumeAttributesClassName", "<unset>"),
        "VolumeAttributesClass of the pv",
    ),
    Column("Reason", lambda row: row.status.get("reason", ""), Field(_VOLUME_STATUS, "reason")),
    AGE,
    Column(
        "VolumeMode", lambda row: row.spec.get("volumeMode", "<unset>"), Field(_VOLUME_SPEC, "volumeMode"), priority=1
    ),
)


def _claim_capacity(row: Row) -> str:
    """Of the bound volume; a claim that has none yet has no capacity."""
    return quantity((row.status.get("capacity") or {}).get("storage")) if row.spec.get("volumeName") else ""


def _claim_modes(row: Row) -> str:
    return access_modes(row.status.get("accessModes") or ()) if row.spec.get("volumeName") else ""


_CLAIM_SPEC = "api.core.v1.PersistentVolumeClaimSpec"
_CLAIM_STATUS = "api.core.v1.PersistentVolumeClaimStatus"
PERSISTENT_VOLUME_CLAIMS = kind_table(
    NAME,
    Column("Status", _phase, Field(_CLAIM_STATUS, "phase")),
    Column("Volume", lambda row: row.spec.get("volumeName", ""), Field(_CLAIM_SPEC, "volumeName")),
    Column("Capacity", _claim_capacity, Field(_CLAIM_STATUS, "capacity")),
    Column("Access Modes", _claim_modes, Field(_CLAIM_STATUS, "accessModes")),
    Column("StorageClass", lambda row: class_of(row.object), "StorageClass of the pvc"),
    Column(
        "VolumeAttributesClass",
        lambda row: row.spec.get("volumeAttributesClassName", "<unset>"),
        "VolumeAttributesClass of the pvc",
    ),
    AGE,
    Column(
        "VolumeMode", lambda row: row.spec.get("volumeMode", "<unset>"), Field(_CLAIM_SPEC, "volumeMode"), priority=1
    ),
)


def _marked_name(row: Row) -> str:
    """The name, with a mark on a class that claims to be the default."""
    given: Mapping[str, str] = row.metadata.get("annotations") or {}
    default = any(given.get(annotation) == "true" for annotation in STORAGE)
    return f"{row.name} (default)" if default else row.name


def _effective_default(row: Row) -> str:
    """Of several classes that are marked as default only that counts which claims get."""
    return f"{row.name} (default)" if row.chosen else row.name


_CLASS = "api.storage.v1.StorageClass"
_CLASS_COLUMNS: tuple[Column[Row], ...] = (
    Column("Provisioner", lambda row: row.object.get("provisioner", ""), Field(_CLASS, "provisioner")),
    Column("ReclaimPolicy", lambda row: row.object.get("reclaimPolicy", "Delete"), Field(_CLASS, "reclaimPolicy")),
    Column(
        "VolumeBindingMode",
        lambda row: row.object.get("volumeBindingMode", "Immediate"),
        Field(_CLASS, "volumeBindingMode"),
    ),
    Column(
        "AllowVolumeExpansion",
        lambda row: bool(row.object.get("allowVolumeExpansion")),
        Field(_CLASS, "allowVolumeExpansion"),
    ),
    AGE,
)
STORAGE_CLASSES = kind_table(
    Column("Name", _effective_default, Field(META, "name"), format="name"),
    *_CLASS_COLUMNS,
    choice=default_storage_class,
)
ALL_MARKED_STORAGE_CLASSES = kind_table(
    Column("Name", _marked_name, Field(META, "name"), format="name"), *_CLASS_COLUMNS
)

VOLUME_ATTRIBUTES_CLASSES = kind_table(
    NAME,
    Column(
        "DriverName",
        lambda row: row.object.get("driverName", ""),
        Field("api.storage.v1.VolumeAttributesClass", "driverName"),
    ),
    AGE,
)

_ATTACHMENT_SPEC = "api.storage.v1.VolumeAttachmentSpec"
VOLUME_ATTACHMENTS = kind_table(
    NAME,
    Column("Attacher", lambda row: row.spec.get("attacher", ""), Field(_ATTACHMENT_SPEC, "attacher"), format="name"),
    Column(
        "PV",
        lambda row: (row.spec.get("source") or {}).get("persistentVolumeName", ""),
        Field("api.storage.v1.VolumeAttachmentSource", "persistentVolumeName"),
    ),
    Column("Node", lambda row: row.spec.get("nodeName", ""), Field(_ATTACHMENT_SPEC, "nodeName")),
    Column(
        "Attached",
        lambda row: bool(row.status.get("attached")),
        Field("api.storage.v1.VolumeAttachmentStatus", "attached"),
        type="boolean",
    ),
    AGE,
)

CSI_NODES = kind_table(
    NAME,
    Column(
        "Drivers",
        lambda row: len(row.spec.get("drivers") or ()),
        "Drivers indicates the number of CSI drivers registered on the node",
        type="integer",
    ),
    AGE,
)


def _audiences(row: Row) -> str:
    requests = row.spec.get("tokenRequests")
    return "<unset>" if requests is None else ",".join(request.get("audience", "") for request in requests)


_DRIVER = "api.storage.v1.CSIDriverSpec"


def _driver_flag(name: str, field: str, unset: Any) -> Column[Row]:
    return Column(name, lambda row: row.spec.get(field, unset), Field(_DRIVER, field), type="boolean")


CSI_DRIVERS = kind_table(
    NAME,
    _driver_flag("AttachRequired", "attachRequired", True),
    _driver_flag("PodInfoOnMount", "podInfoOnMount", False),
    _driver_flag("StorageCapacity", "storageCapacity", False),
    Column("TokenRequests", _audiences, Field(_DRIVER, "tokenRequests")),
    _driver_flag("RequiresRepublish", "requiresRepublish", False),
    Column(
        "Modes",
        lambda row: ",".join(row.spec.get("volumeLifecycleModes") or ()) or "<none>",
        Field(_DRIVER, "volumeLifecycleModes"),
    ),
    AGE,
)

_CAPACITY = "api.storage.v1.CSIStorageCapacity"
CSI_STORAGE_CAPACITIES = kind_table(
    NAME,
    Column(
        "StorageClassName", lambda row: row.object.get("storageClassName", ""), Field(_CAPACITY, "storageClassName")
    ),
    Column(
        "Capacity",
        lambda row: quantity(row.object["capacity"]) if "capacity" in row.object else "<unset>",
        Field(_CAPACITY, "capacity"),
    ),
)
