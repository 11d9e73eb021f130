"""What a claim asks for, in a claim and in templates of claims (core validation, ValidatePersistentVolumeClaimSpec)."""

from __future__ import annotations

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.labels import annotation_map, label_map, label_selector
from engine.api.validation.problems import Problems
from engine.api.validation.resources import positive_quantity

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
_EXCLUSIVE = "may not use ReadWriteOncePod with other access modes"
_DEFAULT_GROUP = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
# What of metadata a template may not have, in Go's order and with the names of the errors.
_TEMPLATE_METADATA = {
    **{field: field for field in ("name", "generateName", "namespace", "selfLink")},
    "uid": "uID",
    **{field: field for field in ("resourceVersion", "generation", "creationTimestamp")},
    **{field: field for field in ("deletionTimestamp", "deletionGracePeriodSeconds")},
    **{field: field for field in ("ownerReferences", "finalizers", "managedFields")},
}


def claim_spec(spec: Object, path: str, problems: Problems, *, check_groups: bool = True) -> None:
    modes = spec.get("accessModes", [])
    if not modes:
        problems.required(f"{path}.accessModes", "at least 1 access mode is required")
    label_selector(spec.get("selector"), f"{path}.selector", problems)
    access_modes(modes, f"{path}.accessModes", problems)
    storage = spec.get("resources", {}).get("requests", {}).get("storage")
    if storage is None:
        problems.required(f"{path}.resources[storage]")
    else:
        positive_quantity(storage, f"{path}.resources[storage]", problems)
    if name := spec.get("storageClassName"):
        problems.all_invalid(f"{path}.storageClassName", name, text.dns_subdomain(name))
    problems.unless_in(f"{path}.volumeMode", spec.get("volumeMode"), VOLUME_MODES)
    _data_sources(spec, path, problems, check_groups=check_groups)
    if name := spec.get("volumeAttributesClassName"):
        problems.all_invalid(f"{path}.volumeAttributesClassName", name, text.dns_subdomain(name))


def access_modes(modes: list[str], path: str, problems: Problems) -> None:
    for mode in modes:
        if mode not in ACCESS_MODES:
            problems.not_supported(path, mode, ACCESS_MODES)
    if "ReadWriteOncePod" in modes and len(set(modes) & set(ACCESS_MODES)) > 1:
        problems.forbidden(path, _EXCLUSIVE)


def _data_sources(spec: Object, path: str, problems: Problems, *, check_groups: bool) -> None:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None:
        _data_source(source, f"{path}.dataSource", problems, check_group=check_groups)
    if reference is not None:
        _data_source(reference, f"{path}.dataSourceRef", problems, check_group=check_groups)
        if namespace := reference.get("namespace"):
            problems.all_invalid(f"{path}.dataSourceRef.namespace", namespace, text.dns_label(namespace))
    if source is None or reference is None:
        return
    # Upstream shows the field's path where others show its value: an object without exported fields.
    if reference.get("namespace"):
        problems.invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified")
    elif any(source.get(field) != reference.get(field) for field in ("apiGroup", "kind", "name")):
        problems.invalid(path, {}, "must match dataSourceRef")


def _data_source(source: Object, path: str, problems: Problems, *, check_group: bool) -> None:
    problems.required_fields(source, path, "name", "kind")
    group = source.get("apiGroup", "")
    if group and check_group:
        problems.all_invalid(f"{path}.apiGroup", group, text.dns_subdomain(group))
    elif not group and source.get("kind") != "PersistentVolumeClaim":
        problems.invalid(path, source.get("kind", ""), _DEFAULT_GROUP)


def claim_template(template: Object, path: str, problems: Problems) -> None:
    template_metadata(template.get("metadata") or {}, f"{path}.metadata", problems)
    claim_spec(template.get("spec", {}), f"{path}.spec", problems)


def template_metadata(metadata: Object, path: str, problems: Problems) -> None:
    """Of what is made for a Pod from a template: only labels and annotations are the template's to say."""
    annotation_map(metadata.get("annotations"), f"{path}.annotations", problems)
    label_map(metadata.get("labels"), f"{path}.labels", problems)
    for field, shown in _TEMPLATE_METADATA.items():
        if metadata.get(field):
            problems.forbidden(f"{path}.{shown}", "cannot be set")
