"""Environment variables of a container and where their values come from (core validation, ValidateEnv)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.files import no_backsteps
from engine.api.validation.problems import Problems
from engine.api.validation.windows import containers_with_path

_ENV_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_VOLUME_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
# What ConvertDownwardAPIFieldLabel knows, besides labels and annotations by name.
_KNOWN_FIELDS = frozenset({*_ENV_FIELDS, *_VOLUME_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase"})
_OLD_FIELDS = {"spec.host": "spec.nodeName"}  # as clients of old say it
_RESOURCES = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_SUBSCRIPT = re.compile(r"(.+)\['(.*)'\]")
_SIZES = ("1", *(f"1{suffix}" for suffix in ("k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")))
_ONE_OF = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"


def env(variables: Sequence[Object], path: str, problems: Problems) -> None:
    for index, variable in enumerate(variables):
        name = variable.get("name", "")
        if not name:
            problems.required(f"{path}[{index}].name")
        else:
            problems.all_invalid(f"{path}[{index}].name", name, text.env_name(name))
        if "valueFrom" in variable:
            _value_from(variable, f"{path}[{index}].valueFrom", problems)


def env_from(sources: Sequence[Object], path: str, problems: Problems) -> None:
    for index, source in enumerate(sources):
        at = f"{path}[{index}]"
        if source.get("prefix"):
            problems.all_invalid(f"{at}.prefix", source["prefix"], text.env_name(source["prefix"]))
        found = [field for field in ("configMapRef", "secretRef") if field in source]
        for field in found:
            name = source[field].get("name", "")
            if not name:
                problems.required(f"{at}.{field}.name")
            else:
                problems.all_invalid(f"{at}.{field}.name", name, text.dns_subdomain(text.unmasked(name)))
        # Upstream names the list, not the element.
        if not found:
            problems.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(found) > 1:
            problems.invalid(path, "", "may not have more than one field specified at a time")


def _value_from(variable: Object, path: str, problems: Problems) -> None:
    source = variable["valueFrom"]
    found = [field for field in _SOURCES if field in source]
    for field in found:
        _SOURCES[field](source[field], f"{path}.{field}", problems)
    if not found:
        problems.invalid(path, "", _ONE_OF)
    elif variable.get("value"):
        problems.invalid(path, "", "may not be specified when `value` is not empty")
    elif len(found) > 1:
        problems.invalid(path, "", "may not have more than one field specified at a time")


def _key_ref(reference: Object, path: str, problems: Problems) -> None:
    name, key = reference.get("name", ""), reference.get("key", "")
    problems.all_invalid(f"{path}.name", name, text.dns_subdomain(name))
    if not key:
        problems.required(f"{path}.key")
    else:
        problems.all_invalid(f"{path}.key", key, text.config_key(key))


def _file_key(reference: Object, path: str, problems: Problems) -> None:
    """A key of a file in a volume (KEP-3721)."""
    key = reference.get("key", "")
    if not key:
        problems.required(f"{path}.key")
    else:
        problems.all_invalid(f"{path}.key", key, text.env_name(key))
    volume = reference.get("volumeName", "")
    if not volume:
        problems.required(f"{path}.volumeName")
    else:
        problems.all_invalid(f"{path}.volumeName", volume, text.dns_label(volume))
    problems.required_fields(reference, path, "path")
    no_backsteps(reference.get("path", ""), f"{path}.path", problems)


def file_volumes(spec: Object, path: str, problems: Problems) -> None:
    """Files of variables are in volumes that are the Pod's own (validateFileKeyRefVolumes)."""
    volumes = {volume.get("name", ""): volume for volume in spec.get("volumes", ())}
    for container, at in containers_with_path(spec, path):
        for index, variable in enumerate(container.get("env", ())):
            reference = variable.get("valueFrom", {}).get("fileKeyRef")
            if reference is None:
                continue
            name = reference.get("volumeName", "")
            where = f"{at}.env[{index}].valueFrom.fileKeyRef.volumeName"
            if name not in volumes:
                problems.not_found(where, name)
            elif "emptyDir" not in volumes[name]:
                problems.invalid(where, name, "referenced volume must be of type emptyDir")


def _env_field(reference: Object, path: str, problems: Problems) -> None:
    field_ref(reference, path, problems, fields=_ENV_FIELDS)


def volume_field(reference: Object, path: str, problems: Problems) -> None:
    field_ref(reference, path, problems, fields=_VOLUME_FIELDS)


def field_ref(reference: Object, path: str, problems: Problems, *, fields: tuple[str, ...]) -> None:
    """A field of the Pod by its path; labels and annotations also one by one, as in `metadata.labels['app']`."""
    field = reference.get("fieldPath", "")
    if not reference.get("apiVersion"):
        problems.required(f"{path}.apiVersion")
        return
    if not field:
        problems.required(f"{path}.fieldPath")
        return
    match = _SUBSCRIPT.fullmatch(field)
    if wrong := _unknown_field(reference["apiVersion"], field, match[1] if match else None):
        problems.invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {wrong}")
    elif match is None:
        internal = _OLD_FIELDS.get(field, field)
        if internal not in fields:
            problems.not_supported(f"{path}.fieldPath", internal, fields)
    elif match[1] == "metadata.annotations":
        problems.all_invalid(path, match[2].lower(), text.qualified_name(match[2].lower()))
    else:
        problems.all_invalid(path, match[2], text.qualified_name(match[2]))


def _unknown_field(version: str, field: str, subscripted: str | None) -> str:
    """What ConvertDownwardAPIFieldLabel says of a field that it does not know."""
    if version != "v1":
        return f"unsupported pod version: {version}"
    if subscripted is not None:
        known = subscripted in ("metadata.annotations", "metadata.labels")
        return "" if known else f"field label does not support subscript: {field}"
    known = field in _KNOWN_FIELDS or field in _OLD_FIELDS
    return "" if known else f"field label not supported: {field}"


def _env_resource(reference: Object, path: str, problems: Problems) -> None:
    resource_field_ref(reference, path, problems, volume=False)


def resource_field_ref(reference: Object, path: str, problems: Problems, *, volume: bool) -> None:
    resource = reference.get("resource", "")
    if volume and not reference.get("containerName"):
        problems.required(f"{path}.containerName")
    elif not resource:
        problems.required(f"{path}.resource")
    elif resource not in _RESOURCES and not resource.startswith(("requests.hugepages-", "limits.hugepages-")):
        problems.not_supported(f"{path}.resource", resource, _RESOURCES)
    _divisor(resource, reference.get("divisor", "0"), f"{path}.divisor", problems)


def _divisor(resource: str, divisor: str, path: str, problems: Problems) -> None:
    if divisor == "0":
        return
    kind = resource.partition(".")[2]
    if kind == "cpu":
        if divisor not in ("1m", "1"):
            problems.invalid(path, resource, "only divisor's values 1m and 1 are supported with the cpu resource")
    elif kind in ("memory", "ephemeral-storage") or kind.startswith("hugepages-"):
        if divisor in _SIZES:
            return
        of = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}.get(kind, "hugepages")
        detail = f"only divisor's values {', '.join(_SIZES)} are supported with the {of} resource"
        problems.invalid(path, resource, detail)


_SOURCES: Mapping[str, Callable[[Object, str, Problems], None]] = {
    "fieldRef": _env_field,
    "resourceFieldRef": _env_resource,
    "configMapKeyRef": _key_ref,
    "secretKeyRef": _key_ref,
    "fileKeyRef": _file_key,
}
