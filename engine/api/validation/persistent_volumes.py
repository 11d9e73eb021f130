"""PersistentVolumes (core validation, ValidatePersistentVolume)."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.validation import text, volume_sources
from engine.api.validation.claims import VOLUME_MODES, access_modes
from engine.api.validation.differences import difference
from engine.api.validation.files import no_backsteps
from engine.api.validation.go_structs import struct_shown
from engine.api.validation.placement import node_selector
from engine.api.validation.problems import IMMUTABLE, Problems
from engine.api.validation.resources import positive_quantity
from engine.api.validation.volume_sources import SHARED
from engine.api.validation.volumes import ISCSI_TOO_LONG, SOURCE_PATH, iscsi_too_long

_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
_MOUNTED_WITH_OPTIONS = (
    *("gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder", "cephfs"),
    *("azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk", "flocker", "scaleIO", "fc", "portworxVolume"),
)
_INLINE = "in the context of inline volumes"
_RECLAIM = ("Delete", "Recycle", "Retain")
_MORE_THAN_ONE = "may not specify more than 1 volume type"
_NEEDS_CSI = "has to be specified when using volumeAttributesClassName"
_CSI_SECRETS = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)
# Labels of nodes that got other names when they became stable.
_STABLE = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}


def new_persistent_volume(obj: Object, problems: Problems) -> None:
    """As its strategy checks it: the volume, and what its kind of source knows nothing of (pkg/volume/validation)."""
    volume_spec(obj, problems)
    _mount_options(obj, problems)


def replacing_persistent_volume(new: Object, old: Object, problems: Problems) -> None:
    persistent_volume(new, old, problems)
    _mount_options(new, problems)


def persistent_volume(new: Object, old: Object, problems: Problems) -> None:
    """Labels of nodes that an older release let through may stay (ValidationOptionsForPersistentVolume)."""
    volume_spec(new, problems, check_values=not _invalid_label_values(_terms(old.get("spec", {}).get("nodeAffinity"))))


def _invalid_label_values(terms: list[Object]) -> bool:
    return any(
        text.label_value(value)
        for term in terms
        for expression in term.get("matchExpressions", ())
        for value in expression.get("values", ())
    )


def _mount_options(obj: Object, problems: Problems) -> None:
    annotated = _MOUNT_OPTIONS in obj.get("metadata", {}).get("annotations", {})
    if annotated and not any(source in obj.get("spec", {}) for source in _MOUNTED_WITH_OPTIONS):
        detail = "may not specify mount options for this volume type"
        problems.forbidden(f"metadata.annotations.{_MOUNT_OPTIONS}", detail)


def volume_spec(obj: Object, problems: Problems, *, check_values: bool = True) -> None:
    spec, path, name = obj.get("spec", {}), "spec", obj.get("metadata", {}).get("name", "")
    _modes(spec, path, problems)
    _capacity(spec.get("capacity"), f"{path}.capacity", problems)
    policy = spec.get("persistentVolumeReclaimPolicy")
    problems.unless_in(f"{path}.persistentVolumeReclaimPolicy", policy or None, _RECLAIM)
    _node_affinity(spec, path, problems, check_values=check_values)
    _sources(spec, path, name, problems)
    _names(spec, path, problems)


def _modes(spec: Object, path: str, problems: Problems) -> None:
    modes = spec.get("accessModes", [])
    if not modes:
        problems.required(f"{path}.accessModes")
    access_modes(modes, f"{path}.accessModes", problems)


def inline_volume_spec(spec: Object, path: str, problems: Problems) -> None:
    """Of a VolumeAttachment: a volume that no PersistentVolume speaks for."""
    for field in ("claimRef", "capacity"):
        if spec.get(field):
            problems.forbidden(f"{path}.{field}", f"may not be specified {_INLINE}")
    if "csi" not in spec:
        problems.required(f"{path}.csi", f"has to be specified {_INLINE}")
    _modes(spec, path, problems)
    if spec.get("persistentVolumeReclaimPolicy", "Retain") != "Retain":
        problems.forbidden(f"{path}.persistentVolumeReclaimPolicy", f"may only be Retain {_INLINE}")
    if "nodeAffinity" in spec:
        problems.forbidden(f"{path}.nodeAffinity", f"may not be specified {_INLINE}")
    _sources(spec, path, "", problems)
    if spec.get("storageClassName"):
        problems.forbidden(f"{path}.storageClassName", f"may not be specified {_INLINE}")
    if spec.get("volumeMode", "Filesystem") != "Filesystem":
        detail = f"may not specify volumeMode other than Filesystem {_INLINE}"
        problems.forbidden(f"{path}.volumeMode", detail)


def _capacity(capacity: Mapping[str, str] | None, path: str, problems: Problems) -> None:
    if not capacity:
        problems.required(path)
    if not capacity or "storage" not in capacity or len(capacity) > 1:
        problems.not_supported(path, capacity, ("storage",))
    for name, amount in (capacity or {}).items():
        basic_resource(amount, f"{path}[{name}]", problems)
        positive_quantity(amount, f"{path}[{name}]", problems)


def basic_resource(amount: str, path: str, problems: Problems) -> None:
    value = Quantity.parse(amount)
    if value < Quantity():
        problems.invalid(path, value.value, "must be a valid resource quantity")


def _node_affinity(spec: Object, path: str, problems: Problems, *, check_values: bool) -> None:
    if "nodeAffinity" in spec:
        required = spec["nodeAffinity"].get("required")
        if required is None:
            problems.required(f"{path}.nodeAffinity.required", "must specify required node constraints")
        else:
            node_selector(required, f"{path}.nodeAffinity.required", problems, check_values=check_values)


def _sources(spec: Object, path: str, name: str, problems: Problems) -> None:
    count = 0
    for field, rule in SOURCES.items():
        if field not in spec:
            continue
        count += 1
        if count > 1 and field != "flexVolume":
            problems.forbidden(f"{path}.{'cephFS' if field == 'cephfs' else field}", _MORE_THAN_ONE)
            continue
        if field == "iscsi" and iscsi_too_long(name, spec[field]):
            portal = spec[field].get("targetPortal", "")
            problems.invalid(f"{path}.iscsi.targetportal", portal, ISCSI_TOO_LONG)
        rule(spec[field], f"{path}.{SOURCE_PATH.get(field, field)}", problems)
        if field == "local" and "nodeAffinity" not in spec:
            problems.required(f"{path}.nodeAffinity", "Local volume requires node affinity")
    if not count:
        problems.required(path, "must specify a volume type")
    root = posixpath.normpath(spec.get("hostPath", {}).get("path", ".")) == "/"
    if root and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        detail = "may not be 'recycle' for a hostPath mount of '/'"
        problems.forbidden(f"{path}.persistentVolumeReclaimPolicy", detail)


def _names(spec: Object, path: str, problems: Problems) -> None:
    if name := spec.get("storageClassName"):
        problems.all_invalid(f"{path}.storageClassName", name, text.dns_subdomain(name))
    problems.unless_in(f"{path}.volumeMode", spec.get("volumeMode"), VOLUME_MODES)
    attributes = spec.get("volumeAttributesClassName")
    if attributes is not None:
        at = f"{path}.volumeAttributesClassName"
        if not attributes:
            problems.required(at, "an empty string is disallowed")
        else:
            problems.all_invalid(at, attributes, text.dns_subdomain(attributes))
        if "csi" not in spec:
            problems.required(f"{path}.csi", _NEEDS_CSI)


# -- sources that differ from a Pod's


def _glusterfs(source: Object, path: str, problems: Problems) -> None:
    problems.required_fields(source, path, "endpoints", "path")
    namespace = source.get("endpointsNamespace")
    if namespace == "":
        detail = "if the endpointnamespace is set, it must be a valid namespace name"
        problems.invalid(f"{path}.endpointsNamespace", namespace, detail)
    elif namespace is not None:
        problems.all_invalid(f"{path}.endpointsNamespace", namespace, text.dns_label(namespace))


def _iscsi(source: Object, path: str, problems: Problems) -> None:
    volume_sources.iscsi(source, path, problems, hint="")
    if "secretRef" in source:
        problems.required_fields(source["secretRef"], f"{path}.secretRef", "name")


def _cinder(source: Object, path: str, problems: Problems) -> None:
    problems.required_fields(source, path, "volumeID")
    if "secretRef" in source:
        problems.required_fields(source["secretRef"], f"{path}.secretRef", "name", "namespace")


def _azure_file(source: Object, path: str, problems: Problems) -> None:
    problems.required_fields(source, path, "secretName", "shareName")
    if source.get("secretNamespace") == "":
        problems.required(f"{path}.secretNamespace")


def _local(source: Object, path: str, problems: Problems) -> None:
    if not source.get("path"):
        problems.required(f"{path}.path")
    else:
        no_backsteps(source["path"], f"{path}.path", problems)


def _storage_os(source: Object, path: str, problems: Problems) -> None:
    volume_sources.storage_os(source, path, problems)
    if "secretRef" in source:
        problems.required_fields(source["secretRef"], f"{path}.secretRef", "namespace")


def _csi(source: Object, path: str, problems: Problems) -> None:
    volume_sources.csi_driver_name(source.get("driver", ""), f"{path}.driver", problems)
    problems.required_fields(source, path, "volumeHandle")
    for field in _CSI_SECRETS:
        if field in source:
            _secret_reference(source[field], f"{path}.{field}", problems)


def _secret_reference(reference: Object, path: str, problems: Problems) -> None:
    for field, rule in (("name", text.dns_subdomain), ("namespace", text.dns_label)):
        value = reference.get(field, "")
        if not value:
            problems.required(f"{path}.{field}")
        else:
            problems.all_invalid(f"{path}.{field}", value, rule(value))


SOURCES: Mapping[str, Callable[[Object, str, Problems], None]] = {
    "hostPath": SHARED["hostPath"],
    "gcePersistentDisk": SHARED["gcePersistentDisk"],
    "awsElasticBlockStore": SHARED["awsElasticBlockStore"],
    "glusterfs": _glusterfs,
    "flocker": SHARED["flocker"],
    "nfs": SHARED["nfs"],
    "rbd": SHARED["rbd"],
    "quobyte": SHARED["quobyte"],
    "cephfs": SHARED["cephfs"],
    "iscsi": _iscsi,
    "cinder": _cinder,
    "fc": SHARED["fc"],
    "flexVolume": SHARED["flexVolume"],
    "azureFile": _azure_file,
    "vsphereVolume": SHARED["vsphereVolume"],
    "photonPersistentDisk": SHARED["photonPersistentDisk"],
    "portworxVolume": SHARED["portworxVolume"],
    "azureDisk": SHARED["azureDisk"],
    "scaleIO": SHARED["scaleIO"],
    "local": _local,
    "storageos": _storage_os,
    "csi": _csi,
}


# -- updates


def changed_persistent_volume(new: Object, old: Object, problems: Problems) -> None:
    after, before = new.get("spec", {}), old.get("spec", {})
    source, source_before = _source(after), _source(before)
    if "controllerExpandSecretRef" not in source_before.get("csi", {"controllerExpandSecretRef": {}}):
        source = {**source, "csi": dict(source.get("csi", {}))}
        source["csi"].pop("controllerExpandSecretRef", None)
    if source != source_before:
        shown = difference(*(struct_shown(each, "PersistentVolumeSource") for each in (source_before, source)))
        detail = f"spec.persistentvolumesource is immutable after creation\n{shown}"
        problems.forbidden("spec.persistentvolumesource", detail)
    problems.immutable("volumeMode", after.get("volumeMode"), before.get("volumeMode"))
    affinity, affinity_before = after.get("nodeAffinity"), before.get("nodeAffinity")
    if affinity_before is not None and _stable(affinity, affinity_before) != affinity_before:
        where = None if affinity is None else struct_shown(affinity, "VolumeNodeAffinity")
        problems.invalid("nodeAffinity", where, f"{IMMUTABLE}, except for updating from beta label to GA")
    if "volumeAttributesClassName" in before and "volumeAttributesClassName" not in after:
        problems.forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden")


def _source(spec: Object) -> Object:
    return {source: spec[source] for source in SOURCES if source in spec}


def _stable(new: Object | None, old: Object) -> Object | None:
    """The new affinity with keys put back that only became stable ones."""
    terms, before = _terms(new), _terms(old)
    if new is None or len(terms) != len(before):
        return new
    kept = [_put_back(term, previous) for term, previous in zip(terms, before, strict=True)]
    return {**new, "required": {**new["required"], "nodeSelectorTerms": kept}} if terms else new


def _terms(affinity: Object | None) -> list[Object]:
    return list((affinity or {}).get("required", {}).get("nodeSelectorTerms", ()))


def _put_back(term: Object, before: Object) -> Object:
    kept = dict(term)
    for field in ("matchExpressions", "matchFields"):
        new, old = term.get(field, []), before.get(field, [])
        if len(new) == len(old):
            kept[field] = [
                {**each, "key": other["key"]} if _STABLE.get(other.get("key", ""), "") == each.get("key") else each
                for each, other in zip(new, old, strict=True)
            ]
            if field not in term:
                del kept[field]
    return kept
