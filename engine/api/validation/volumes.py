"""Volumes of a Pod (core validation, ValidateVolumes, validateVolumeSource)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.environment import resource_field_ref, volume_field
from engine.api.validation.mounts import descending_path, no_backsteps
from engine.api.validation.problems import Problems

_MAX_MODE = 0o777
_MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive"
_MORE_THAN_ONE = "may not specify more than 1 volume type"
_HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_MIN_TOKEN_SECONDS, _MAX_TOKEN_SECONDS = 600, 1 << 32

# The fields that a source cannot do without.
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "awsElasticBlockStore": ("volumeID",),
    "azureDisk": ("diskName", "diskURI"),
    "azureFile": ("secretName", "shareName"),
    "cephfs": ("monitors",),
    "cinder": ("volumeID",),
    "csi": ("driver",),
    "flexVolume": ("driver",),
    "gcePersistentDisk": ("pdName",),
    "gitRepo": ("repository",),
    "glusterfs": ("endpoints", "path"),
    "iscsi": ("targetPortal", "iqn"),
    "nfs": ("server", "path"),
    "persistentVolumeClaim": ("claimName",),
    "photonPersistentDisk": ("pdID",),
    "portworxVolume": ("volumeID",),
    "quobyte": ("registry", "volume"),
    "rbd": ("monitors", "image"),
    "scaleIO": ("gateway", "system", "volumeName"),
    "vsphereVolume": ("volumePath",),
}
SOURCES = (
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
)


def volumes(found: Sequence[Object], path: str, problems: Problems) -> dict[str, Object]:
    """Checks the volumes; returns those with a good name, by name, for the mounts to look up."""
    known: dict[str, Object] = {}
    for index, volume in enumerate(found):
        at = f"{path}[{index}]"
        before = len(problems)
        volume_sources(volume, at, problems)
        name = volume.get("name", "")
        if not name:
            problems.required(f"{at}.name")
        else:
            problems.all_invalid(f"{at}.name", name, text.dns_label(name))
        if name in known:
            problems.duplicate(f"{at}.name", name)
        if len(problems) == before:
            known[name] = volume
    return known


def volume_sources(volume: Object, path: str, problems: Problems) -> None:
    """Exactly one of the sources is set, and it is complete."""
    found = [source for source in SOURCES if source in volume]
    for extra in found[1:]:
        problems.forbidden(f"{path}.{extra}", _MORE_THAN_ONE)
    if not found:
        problems.required(path, "must specify a volume type")
        return
    source_field = found[0]
    source = volume[source_field]
    at = f"{path}.{source_field}"
    for field in _REQUIRED.get(source_field, ()):
        if not source.get(field):
            problems.required(f"{at}.{field}")
    rule = _RULES.get(source_field)
    if rule is not None:
        rule(source, at, problems)


def _empty_dir(source: Object, path: str, problems: Problems) -> None:
    if Quantity.parse(source.get("sizeLimit", "0")) < Quantity():
        problems.forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _host_path(source: Object, path: str, problems: Problems) -> None:
    if not source.get("path"):
        problems.required(f"{path}.path")
        return
    no_backsteps(source["path"], f"{path}.path", problems)
    kind = source.get("type", "")
    if kind not in _HOST_PATH_TYPES:
        problems.not_supported(f"{path}.type", kind, _HOST_PATH_TYPES)


def _secret(source: Object, path: str, problems: Problems) -> None:
    if not source.get("secretName"):
        problems.required(f"{path}.secretName")
    _mode(source.get("defaultMode"), f"{path}.defaultMode", problems)
    _items(source, path, problems)


def _config_map(source: Object, path: str, problems: Problems) -> None:
    if not source.get("name"):
        problems.required(f"{path}.name")
    _mode(source.get("defaultMode"), f"{path}.defaultMode", problems)
    _items(source, path, problems)


def _items(source: Object, path: str, problems: Problems) -> None:
    for index, item in enumerate(source.get("items", ())):
        at = f"{path}.items[{index}]"
        if not item.get("key"):
            problems.required(f"{at}.key")
        if not item.get("path"):
            problems.required(f"{at}.path")
        else:
            _file(item["path"], f"{at}.path", problems)
        _mode(item.get("mode"), f"{at}.mode", problems)


def _file(value: str, path: str, problems: Problems) -> None:
    descending_path(value, path, problems)
    if value.startswith("..") and not value.startswith("../"):
        problems.invalid(path, value, "must not start with '..'")


def _mode(mode: int | None, path: str, problems: Problems) -> None:
    if mode is not None and not 0 <= mode <= _MAX_MODE:
        problems.invalid(path, mode, _MODE_TEXT)


def _downward(source: Object, path: str, problems: Problems) -> None:
    _mode(source.get("defaultMode"), f"{path}.defaultMode", problems)
    for index, item in enumerate(source.get("items", ())):
        at = f"{path}.items[{index}]"
        if not item.get("path"):
            problems.required(f"{path}.path")
        else:
            _file(item["path"], f"{path}.path", problems)
        if "fieldRef" in item:
            volume_field(item["fieldRef"], f"{at}.fieldRef", problems)
            if "resourceFieldRef" in item:
                problems.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
        elif "resourceFieldRef" in item:
            resource_field_ref(item["resourceFieldRef"], f"{at}.resourceFieldRef", problems, volume=True)
        else:
            problems.required(path, "one of fieldRef and resourceFieldRef is required")
        _mode(item.get("mode"), f"{at}.mode", problems)


def _projected(source: Object, path: str, problems: Problems) -> None:
    _mode(source.get("defaultMode"), f"{path}.defaultMode", problems)
    for index, projection in enumerate(source.get("sources", ())):
        at = f"{path}.sources[{index}]"
        found = [field for field in _PROJECTIONS if field in projection]
        for field in found[1:]:
            problems.forbidden(f"{at}.{field}", _MORE_THAN_ONE)
        if not found and "clusterTrustBundle" not in projection and "podCertificate" not in projection:
            problems.required(at, "must specify a projection type")
        for field in found:
            _PROJECTIONS[field](projection[field], f"{at}.{field}", problems)


def _named_items(source: Object, path: str, problems: Problems) -> None:
    if not source.get("name"):
        problems.required(f"{path}.name")
    _items(source, path, problems)


def _token(source: Object, path: str, problems: Problems) -> None:
    seconds = source.get("expirationSeconds")
    if seconds is not None and seconds < _MIN_TOKEN_SECONDS:
        problems.invalid(f"{path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    elif seconds is not None and seconds > _MAX_TOKEN_SECONDS:
        problems.invalid(f"{path}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    if not source.get("path"):
        problems.required(f"{path}.path")
    else:
        _file(source["path"], f"{path}.path", problems)


def _ephemeral(source: Object, path: str, problems: Problems) -> None:
    if "volumeClaimTemplate" not in source:
        problems.required(f"{path}.volumeClaimTemplate")


_PROJECTIONS: Mapping[str, Callable[[Object, str, Problems], None]] = {
    "secret": _named_items,
    "configMap": _named_items,
    "downwardAPI": _downward,
    "serviceAccountToken": _token,
}
_RULES: Mapping[str, Callable[[Object, str, Problems], None]] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "secret": _secret,
    "configMap": _config_map,
    "downwardAPI": _downward,
    "projected": _projected,
    "ephemeral": _ephemeral,
}
