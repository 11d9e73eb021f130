"""The sources of volumes, each by its own rule, in Pods and PersistentVolumes (core validation, validate*Source)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.files import descending_path, file_mode, items, no_backsteps
from engine.api.validation.problems import Problems

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
_IQN = re.compile(r"iqn\.\d{4}-\d{2}\.([0-9A-Za-z.-]+)(:[^,;*&$|\s]+)$")
_EUI, _NAA = re.compile(r"eui.[0-9A-Za-z]{16}"), re.compile(r"naa.[0-9A-Za-z]{32}")
_RESERVED = "kubernetes.io and k8s.io namespaces are reserved"
_REGISTRY = "must be a host:port pair or multiple pairs separated by commas"
_MANAGED_DISK = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB_DISK = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_DRIVER_LENGTH = 63


def empty_dir(source: Object, path: str, problems: Problems) -> None:
    if Quantity.parse(source.get("sizeLimit", "0")) < Quantity():
        problems.forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def host_path(source: Object, path: str, problems: Problems) -> None:
    if not source.get("path"):
        problems.required(f"{path}.path")
        return
    no_backsteps(source["path"], f"{path}.path", problems)
    problems.unless_in(f"{path}.type", source.get("type"), _HOST_PATH_TYPES)


def git_repo(source: Object, path: str, problems: Problems) -> None:
    problems.required_fields(source, path, "repository")
    descending_path(source.get("directory", ""), f"{path}.directory", problems)


def disk(field: str) -> Callable[[Object, str, Problems], None]:
    """A cloud's disk of which one may name a partition."""

    def rule(source: Object, path: str, problems: Problems) -> None:
        problems.required_fields(source, path, field)
        partition = source.get("partition", 0)
        if not 0 <= partition <= 255:
            problems.invalid(f"{path}.partition", partition, text.range_text(1, 255))

    return rule


def iscsi(source: Object, path: str, problems: Problems, *, hint: str = " starting with iqn, eui, or naa") -> None:
    problems.required_fields(source, path, "targetPortal")
    if not source.get("iqn"):
        problems.required(f"{path}.iqn")
    else:
        _initiator(source["iqn"], f"{path}.iqn", problems, hint=hint)
    lun = source.get("lun", 0)
    if not 0 <= lun <= 255:
        problems.invalid(f"{path}.lun", lun, text.range_text(0, 255))
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and "secretRef" not in source:
        problems.required(f"{path}.secretRef")
    if "initiatorName" in source:
        _initiator(source["initiatorName"], f"{path}.initiatorname", problems, hint=hint)


def _initiator(value: str, path: str, problems: Problems, *, hint: str) -> None:
    patterns = {"iqn": _IQN.search, "eui": _EUI.fullmatch, "naa": _NAA.fullmatch}
    matches = patterns.get(value[:3])
    if matches is None:
        problems.invalid(path, value, f"must be valid format{hint}")
    elif not matches(value):
        problems.invalid(path, value, "must be valid format")


def fibre_channel(source: Object, path: str, problems: Problems) -> None:
    names, identifiers = source.get("targetWWNs", []), source.get("wwids", [])
    if not names and not identifiers:
        problems.required(f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both")
    if names and identifiers:
        problems.invalid(f"{path}.targetWWNs", names, "targetWWNs and wwids can not be specified simultaneously")
    if names:
        lun = source.get("lun")
        if lun is None:
            problems.required(f"{path}.lun", "lun is required if targetWWNs is specified")
        elif not 0 <= lun <= 255:
            problems.invalid(f"{path}.lun", lun, text.range_text(0, 255))


def secret(source: Object, path: str, problems: Problems) -> None:
    problems.required_fields(source, path, "secretName")
    file_mode(source.get("defaultMode"), f"{path}.defaultMode", problems)
    items(source, path, problems)


def config_map(source: Object, path: str, problems: Problems) -> None:
    problems.required_fields(source, path, "name")
    file_mode(source.get("defaultMode"), f"{path}.defaultMode", problems)
    items(source, path, problems)


def nfs(source: Object, path: str, problems: Problems) -> None:
    problems.required_fields(source, path, "server", "path")
    if not source.get("path", "").startswith("/"):
        problems.invalid(f"{path}.path", source.get("path", ""), "must be an absolute path")


def quobyte(source: Object, path: str, problems: Problems) -> None:
    registry = source.get("registry", "")
    if not registry:
        problems.required(f"{path}.registry", _REGISTRY)
    elif len(source.get("tenant", "")) >= 65:
        problems.required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        for pair in registry.split(","):
            if not re.fullmatch(r"(\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*", pair):
                problems.invalid(f"{path}.registry", registry, _REGISTRY)
    problems.required_fields(source, path, "volume")


def flocker(source: Object, path: str, problems: Problems) -> None:
    name, identifier = source.get("datasetName", ""), source.get("datasetUUID", "")
    if not name and not identifier:
        problems.required(path, "one of datasetName and datasetUUID is required")
    if name and identifier:
        problems.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        problems.invalid(f"{path}.datasetName", name, "must not contain '/'")


def cinder(source: Object, path: str, problems: Problems) -> None:
    problems.required_fields(source, path, "volumeID")
    if "secretRef" in source:
        problems.required_fields(source["secretRef"], f"{path}.secretRef", "name")


def flex_volume(source: Object, path: str, problems: Problems) -> None:
    problems.required_fields(source, path, "driver")
    for key in source.get("options", {}):
        namespace = f".{key.partition('/')[0].lower()}"
        if namespace.endswith((".kubernetes.io", ".k8s.io")):
            problems.invalid(f"{path}.options[{key}]", key, _RESERVED)


def azure_disk(source: Object, path: str, problems: Problems) -> None:
    problems.required_fields(source, path, "diskName", "diskURI")
    problems.unless_in(f"{path}.cachingMode", source.get("cachingMode"), ("None", "ReadOnly", "ReadWrite"))
    kind, address = source.get("kind"), source.get("diskURI", "")
    problems.unless_in(f"{path}.kind", kind, ("Dedicated", "Managed", "Shared"))
    if kind == "Managed" and not address.startswith("/subscriptions/"):
        problems.not_supported(f"{path}.diskURI", address, (_MANAGED_DISK,))
    if kind is not None and kind != "Managed" and not address.startswith("https://"):
        problems.not_supported(f"{path}.diskURI", address, (_BLOB_DISK,))


def storage_os(source: Object, path: str, problems: Problems) -> None:
    name = source.get("volumeName", "")
    if not name:
        problems.required(f"{path}.volumeName")
    else:
        problems.all_invalid(f"{path}.volumeName", name, text.dns_label(name))
    if namespace := source.get("volumeNamespace"):
        problems.all_invalid(f"{path}.volumeNamespace", namespace, text.dns_label(namespace))
    if "secretRef" in source:
        problems.required_fields(source["secretRef"], f"{path}.secretRef", "name")


def csi_driver_name(name: str, path: str, problems: Problems) -> None:
    if not name:
        problems.required(path)
        return
    if len(name) > _DRIVER_LENGTH:
        problems.too_long(path, _DRIVER_LENGTH)
    problems.all_invalid(path, name, text.dns_subdomain(name.lower()))


def csi(source: Object, path: str, problems: Problems) -> None:
    csi_driver_name(source.get("driver", ""), f"{path}.driver", problems)
    if "nodePublishSecretRef" in source:
        name = source["nodePublishSecretRef"].get("name", "")
        if not name:
            problems.required(f"{path}.nodePublishSecretRef.name")
        else:
            problems.all_invalid(f"{path}.name", name, text.dns_subdomain(name))


def complete(*fields: str) -> Callable[[Object, str, Problems], None]:
    """A source that only lacks nothing."""

    def rule(source: Object, path: str, problems: Problems) -> None:
        problems.required_fields(source, path, *fields)

    return rule


# What Pods and PersistentVolumes have alike.
SHARED: Mapping[str, Callable[[Object, str, Problems], None]] = {
    "hostPath": host_path,
    "gcePersistentDisk": disk("pdName"),
    "awsElasticBlockStore": disk("volumeID"),
    "nfs": nfs,
    "rbd": complete("monitors", "image"),
    "quobyte": quobyte,
    "cephfs": complete("monitors"),
    "flocker": flocker,
    "fc": fibre_channel,
    "flexVolume": flex_volume,
    "vsphereVolume": complete("volumePath"),
    "photonPersistentDisk": complete("pdID"),
    "portworxVolume": complete("volumeID"),
    "azureDisk": azure_disk,
    "scaleIO": complete("gateway", "system", "volumeName"),
}
