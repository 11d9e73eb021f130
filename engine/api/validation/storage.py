"""StorageClasses, VolumeAttributesClasses, VolumeAttachments and CSI objects (pkg/apis/storage/validation)."""

from __future__ import annotations

from collections import Counter

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.go_values import go_map, internal
from engine.api.validation.go_values import selector as shown_selector
from engine.api.validation.labels import label_key, label_selector
from engine.api.validation.persistent_volumes import inline_volume_spec
from engine.api.validation.problems import IMMUTABLE, Problems
from engine.api.validation.repeats import repeated
from engine.api.validation.resources import quantity
from engine.api.validation.volume_sources import csi_driver_name

_BINDING = ("Immediate", "WaitForFirstConsumer")
_PARAMETERS, _PARAMETERS_SIZE, _ERROR_SIZE = 512, 256 * 1024, 1024
_NODE_ID_LENGTH = 256
_MIN_TOKEN_SECONDS, _MAX_TOKEN_SECONDS = 600, 1 << 32
_ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
_MAX_INT32 = 2**31 - 1


def storage_class(obj: Object, problems: Problems) -> None:
    _provisioner(obj.get("provisioner", ""), "provisioner", problems)
    _parameters(obj.get("parameters", {}), problems)
    problems.unless_in("reclaimPolicy", obj.get("reclaimPolicy") or None, ("Delete", "Retain"))
    if "volumeBindingMode" not in obj:
        problems.required("volumeBindingMode")
    problems.unless_in("volumeBindingMode", obj.get("volumeBindingMode"), _BINDING)
    terms = obj.get("allowedTopologies", ())
    seen = Counter[frozenset[tuple[str, frozenset[str]]]]()
    seen[frozenset()] = len(terms)  # so upstream begins: a term that asks nothing is one of them
    for index, term in enumerate(terms):
        path = f"allowedTopologies[{index}].matchLabelExpressions"
        values = _topology(term, path, problems)
        for _ in range(seen[values]):
            problems.duplicate(path, "")
        seen[values] += 1


def _provisioner(name: str, path: str, problems: Problems) -> None:
    if not name:
        problems.required(path)
    else:
        problems.all_invalid(path, name.lower(), text.qualified_name(name.lower()))


def _parameters(parameters: Object, problems: Problems) -> None:
    path = "parameters"
    if len(parameters) > _PARAMETERS:
        problems.too_long(path, _PARAMETERS)
        return
    if "" in parameters:
        problems.invalid(path, "", "field can not be empty.")
    if _size(parameters) > _PARAMETERS_SIZE:
        problems.too_long(path, _PARAMETERS_SIZE)


def _size(values: Object) -> int:
    return sum(len(key.encode()) + len(value.encode()) for key, value in values.items())


def _topology(term: Object, path: str, problems: Problems) -> frozenset[tuple[str, frozenset[str]]]:
    found: dict[str, frozenset[str]] = {}
    for index, expression in enumerate(term.get("matchLabelExpressions", ())):
        at, key, values = f"{path}[{index}]", expression.get("key", ""), expression.get("values", [])
        if not values:
            problems.required(f"{at}.values")
        for number in sorted(repeated(values)):
            problems.duplicate(f"{at}.values[{number}]", values[number])
        label_key(key, f"{at}.key", problems)
        if key in found:
            problems.duplicate(f"{at}.key", key)
        found[key] = frozenset(values)
    return frozenset(found.items())


def storage_class_update(new: Object, old: Object, problems: Problems) -> None:
    if new.get("parameters", {}) != old.get("parameters", {}):
        problems.invalid("parameters", go_map(new.get("parameters")), IMMUTABLE)
    for field in ("provisioner", "reclaimPolicy", "volumeBindingMode"):
        problems.immutable(field, new.get(field), old.get(field))


def volume_attributes_class(obj: Object, problems: Problems) -> None:
    _provisioner(obj.get("driverName", ""), "driverName", problems)
    _parameters(obj.get("parameters", {}), problems)
    if not obj.get("parameters"):
        problems.required("parameters", "must contain at least one key/value pair")


def volume_attributes_class_update(new: Object, old: Object, problems: Problems) -> None:
    for field in ("driverName", "parameters"):
        if new.get(field) != old.get(field):
            problems.forbidden(field, f"updates to {field} are forbidden.")


def csi_driver(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    for field, shown in (("attachRequired", "attachedRequired"), ("podInfoOnMount", ""), ("storageCapacity", "")):
        if field not in spec:
            problems.required(f"spec.{shown or field}")
    policies = ("File", "None", "ReadWriteOnceWithFSType")
    problems.unless_in("spec.fsGroupPolicy", spec.get("fsGroupPolicy"), policies)
    _token_requests(spec.get("tokenRequests", ()), problems)
    for mode in spec.get("volumeLifecycleModes", ()):
        problems.unless_in("spec.volumeLifecycleModes", mode, ("Persistent", "Ephemeral"))
    if "seLinuxMount" not in spec:
        problems.required("spec.seLinuxMount")
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < 10:
        detail = "must be greater than or equal to 10 seconds"
        problems.invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, detail)
    if "serviceAccountTokenInSecrets" in spec and not spec.get("tokenRequests"):
        detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        problems.invalid("spec.serviceAccountTokenInSecrets", spec["serviceAccountTokenInSecrets"], detail)


def _token_requests(requests: list[Object], problems: Problems) -> None:
    audiences = set()
    for index, request in enumerate(requests):
        path, audience = f"spec.tokenRequests[{index}]", request.get("audience", "")
        if audience in audiences:
            problems.duplicate(f"{path}.audience", audience)
            continue
        audiences.add(audience)
        seconds, at = request.get("expirationSeconds"), f"{path}.expirationSeconds"
        if seconds is not None and seconds < _MIN_TOKEN_SECONDS:
            problems.invalid(at, seconds, "may not specify a duration less than 10 minutes")
        if seconds is not None and seconds > _MAX_TOKEN_SECONDS:
            problems.invalid(at, seconds, "may not specify a duration larger than 2^32 seconds")


def csi_driver_update(new: Object, old: Object, problems: Problems) -> None:
    after, before = new.get("spec", {}), old.get("spec", {})
    problems.immutable("spec.attachedRequired", after.get("attachRequired"), before.get("attachRequired"))
    modes = after.get("volumeLifecycleModes")
    problems.immutable("spec.volumeLifecycleModes", modes, before.get("volumeLifecycleModes"))


def csi_node(obj: Object, problems: Problems) -> None:
    names = set()
    for index, driver in enumerate(obj.get("spec", {}).get("drivers", ())):
        path, name, identifier = f"spec.drivers[{index}]", driver.get("name", ""), driver.get("nodeID", "")
        csi_driver_name(name, f"{path}.name", problems)
        if not identifier:
            problems.required(f"{path}.nodeID")
        if len(identifier) > _NODE_ID_LENGTH:
            problems.invalid(f"{path}.nodeID", identifier, f"must be {_NODE_ID_LENGTH} characters or less")
        problems.not_negative(f"{path}.allocatable.count", driver.get("allocatable", {}).get("count"))
        if name in names:
            problems.duplicate(f"{path}.name", name)
        names.add(name)
        _topology_keys(driver.get("topologyKeys", []), path, problems)


def _topology_keys(keys: list[str], path: str, problems: Problems) -> None:
    twins = repeated(keys)
    for index, key in enumerate(keys):
        if not key:
            problems.required(path)
        if index in twins:
            problems.duplicate(path, key)
        problems.all_invalid(path, key, text.qualified_name(key))


def csi_node_update(new: Object, old: Object, problems: Problems) -> None:
    """A driver stays as it was registered, but for how many volumes it can attach."""
    _same_drivers(new, old, problems, but={"allocatable": None})


def old_csi_node_update(new: Object, old: Object, problems: Problems) -> None:
    """Of releases before 1.35 (MutableCSINodeAllocatableCount)."""
    _same_drivers(new, old, problems, but={})


def _same_drivers(new: Object, old: Object, problems: Problems, *, but: Object) -> None:
    after = {driver.get("name"): driver for driver in new.get("spec", {}).get("drivers", ())}
    for driver in old.get("spec", {}).get("drivers", ()):
        now = after.get(driver.get("name"))
        if now is not None and {**now, **but} != {**driver, **but}:
            problems.invalid("spec.drivers", internal("CSINodeDriver", {**now, **but}), IMMUTABLE)


def csi_storage_capacity(obj: Object, problems: Problems) -> None:
    label_selector(obj.get("nodeTopology"), "nodeTopology", problems)
    name = obj.get("storageClassName", "")
    problems.all_invalid("storageClassName", name, text.dns_subdomain(name))
    if "capacity" in obj:
        quantity("storage", obj["capacity"], "capacity", problems)


def csi_storage_capacity_update(new: Object, old: Object, problems: Problems) -> None:
    if new.get("nodeTopology") != old.get("nodeTopology"):
        problems.invalid("nodeTopology", shown_selector(new.get("nodeTopology")), IMMUTABLE)
    problems.immutable("storageClassName", new.get("storageClassName", ""), old.get("storageClassName", ""))


def new_volume_attachment(obj: Object, problems: Problems) -> None:
    """As v1 has it, more strictly than what is stored from before (ValidateVolumeAttachmentV1)."""
    volume_attachment(obj, problems)
    spec = obj.get("spec", {})
    csi_driver_name(spec.get("attacher", ""), "spec.attacher", problems)
    volume = spec.get("source", {}).get("persistentVolumeName")
    if volume is not None:
        problems.all_invalid("spec.source.persistentVolumeName", volume, text.dns_subdomain(volume))


def volume_attachment(obj: Object, problems: Problems, *, told: int = _ERROR_SIZE) -> None:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    if not spec.get("attacher"):
        problems.required("spec.attacher")
    _attached(spec.get("source", {}), "spec.source", problems)
    name = spec.get("nodeName", "")
    problems.all_invalid("spec.nodeName", name, text.dns_subdomain(name))
    _attachment_status(status, problems, told)


def _attached(source: Object, path: str, problems: Problems) -> None:
    inline, name = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    if inline is None and name is None:
        problems.required(path, _ONE_SOURCE)
    elif inline is not None and name is not None:
        problems.forbidden(path, _ONE_SOURCE)
    elif name == "":
        problems.required(f"{path}.persistentVolumeName", "must specify non empty persistentVolumeName")
    elif inline is not None:
        inline_volume_spec(inline, f"{path}.inlineVolumeSpec", problems)


def _attachment_status(status: Object, problems: Problems, told: int) -> None:
    if _size(status.get("attachmentMetadata", {})) > _PARAMETERS_SIZE:
        problems.too_long("status.attachmentMetadata", _PARAMETERS_SIZE)
    for field in ("attachError", "detachError"):
        error = status.get(field, {})
        if len(error.get("message", "").encode()) > _ERROR_SIZE:
            problems.too_long(f"status.{field}.message", told)
        if error.get("errorCode", 0) < 0:
            problems.invalid(f"status.{field}.errorCode", error["errorCode"], text.range_text(0, _MAX_INT32))


def volume_attachment_update(new: Object, old: Object, problems: Problems) -> None:
    if new.get("spec") != old.get("spec"):
        problems.invalid("spec", internal("VolumeAttachmentSpec", new.get("spec", {})), IMMUTABLE)


def volume_attachment_status(new: Object, old: Object, problems: Problems) -> None:
    volume_attachment(new, problems)
    volume_attachment_update(new, old, problems)


def old_volume_attachment_status(new: Object, old: Object, problems: Problems) -> None:
    """Of releases before 1.37, which tell the limit of the metadata when a message is too long."""
    volume_attachment(new, problems, told=_PARAMETERS_SIZE)
    volume_attachment_update(new, old, problems)
