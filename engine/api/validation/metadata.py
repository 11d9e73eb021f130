"""Object metadata, on create and on update (apimachinery pkg/api/validation/objectmeta.go)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.api.types import Object
from engine.api.validation import labels, text
from engine.api.validation.problems import Problems

NameRule = Callable[[str], Sequence[str]]

_FORBIDDEN_OWNER = ("v1", "Event")
_ORPHAN, _FOREGROUND = "orphan", "foregroundDeletion"
_STANDARD = ("kubernetes", _ORPHAN, _FOREGROUND)
_IMMUTABLE = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
MANAGER_LENGTH, _SUBRESOURCE_LENGTH = 128, 256
_ZERO: Mapping[str, Any] = {"name": "", "namespace": "", "uid": ""}


def object_meta(metadata: Object, *, namespaced: bool, name_rule: NameRule, problems: Problems) -> None:
    """Of a new object. A generated name has been generated."""
    prefix = metadata.get("generateName", "")
    if prefix:
        rule = text.path_segment_prefix if name_rule is text.path_segment else name_rule
        problems.all_invalid("metadata.generateName", prefix, rule(text.unmasked(prefix)))
    name = metadata.get("name", "")
    if not name:
        problems.required("metadata.name", "name or generateName is required")
    else:
        problems.all_invalid("metadata.name", name, name_rule(name))
    _namespace(metadata.get("namespace", ""), namespaced=namespaced, problems=problems)
    problems.not_negative("metadata.generation", metadata.get("generation"))
    _labels_annotations_owners(metadata, problems)
    if metadata.get("finalizers"):
        _finalizers(metadata["finalizers"], problems)
    _managed_fields(metadata, problems)


def _namespace(namespace: str, *, namespaced: bool, problems: Problems) -> None:
    if not namespaced:
        if namespace:
            problems.forbidden("metadata.namespace", "not allowed on this type")
    elif not namespace:
        problems.required("metadata.namespace")
    else:
        problems.all_invalid("metadata.namespace", namespace, text.dns_label(namespace))


def object_meta_update(new: Object, old: Object, problems: Problems) -> None:
    if "deletionTimestamp" in old:
        _no_new_finalizers(new.get("finalizers", ()), old.get("finalizers", ()), problems)
    if not new.get("resourceVersion"):
        problems.invalid("metadata.resourceVersion", "", "must be specified for an update")
    if new.get("generation", 0) < old.get("generation", 0):
        problems.invalid("metadata.generation", new.get("generation", 0), "must not be decremented")
    for field in _IMMUTABLE:
        zero = _ZERO.get(field)
        problems.immutable(f"metadata.{field}", new.get(field, zero), old.get(field, zero))
    _labels_annotations_owners(new, problems)
    _managed_fields(new, problems)


def own_finalizers(metadata: Object, problems: Problems) -> None:
    """Those of built-in kinds are qualified, or standard ones (core validation, validateKubeFinalizerName)."""
    for index, finalizer in enumerate(metadata.get("finalizers", ())):
        if "/" not in finalizer and finalizer not in _STANDARD:
            problems.invalid(
                f"metadata.finalizers[{index}]",
                finalizer,
                "name is neither a standard finalizer name nor is it fully qualified",
            )


def _no_new_finalizers(new: Sequence[str], old: Sequence[str], problems: Problems) -> None:
    extra = sorted(set(new) - set(old))
    if extra:
        shown = ", ".join(f'"{name}"' for name in extra)
        problems.forbidden(
            "metadata.finalizers",
            f"no new finalizers can be added if the object is being deleted, found new finalizers []string{{{shown}}}",
        )


def _labels_annotations_owners(metadata: Object, problems: Problems) -> None:
    labels.label_map(metadata.get("labels"), "metadata.labels", problems)
    labels.annotation_map(metadata.get("annotations"), "metadata.annotations", problems)
    if metadata.get("ownerReferences"):
        _owner_references(metadata["ownerReferences"], problems)


def _managed_fields(metadata: Object, problems: Problems) -> None:
    for index, entry in enumerate(metadata.get("managedFields") or ()):
        _owner_of_fields(entry, f"metadata.managedFields[{index}]", problems)


def _owner_references(references: list[Object], problems: Problems) -> None:
    path, first = "metadata.ownerReferences", ""
    for reference in references:
        api_version, kind, name = (reference.get(field, "") for field in ("apiVersion", "kind", "name"))
        if api_version.count("/") > 1 or not api_version.rpartition("/")[2]:
            problems.invalid(f"{path}.apiVersion", api_version, "version must not be empty")
        for field in ("kind", "name", "uid"):
            if not reference.get(field):
                problems.invalid(f"{path}.{field}", "", "must not be empty")
        if (api_version, kind) == _FORBIDDEN_OWNER:
            problems.invalid(path, _shown(reference), "/v1, Kind=Event is disallowed from being an owner")
        if reference.get("controller"):
            if first:
                detail = (
                    "Only one reference can have Controller set to true. "
                    f'Found "true" in references for {first} and {kind}/{name}'
                )
                problems.invalid(path, [_shown(each) for each in references], detail)
            else:
                first = f"{kind}/{name}"


def _shown(reference: Object) -> Object:
    """In the order of Go's fields, of which four are written whatever they hold."""
    always = {field: reference.get(field, "") for field in ("apiVersion", "kind", "name", "uid")}
    return always | {field: reference[field] for field in ("controller", "blockOwnerDeletion") if field in reference}


def _owner_of_fields(entry: Object, path: str, problems: Problems) -> None:
    """Of an entry that can be read; one that cannot counts for nothing (metav1 validation, ValidateManagedFields)."""
    field_manager(entry.get("manager", ""), f"{path}.manager", problems)
    if len(entry.get("subresource", "").encode()) > _SUBRESOURCE_LENGTH:
        problems.too_long(f"{path}.subresource", _SUBRESOURCE_LENGTH)


def field_manager(manager: str, path: str, problems: Problems) -> None:
    """What a manager may be called (metav1 validation, ValidateFieldManager)."""
    if len(manager.encode()) > MANAGER_LENGTH:
        problems.too_long(path, MANAGER_LENGTH)
    for index, letter in enumerate(manager):
        if not letter.isprintable():
            place = len(manager[:index].encode())
            problems.invalid(path, manager, f"invalid character U+{ord(letter):04X} (at position {place})")


def _finalizers(finalizers: list[str], problems: Problems) -> None:
    path = "metadata.finalizers"
    for finalizer in finalizers:
        problems.all_invalid(path, finalizer, text.qualified_name(finalizer))
    if _ORPHAN in finalizers and _FOREGROUND in finalizers:
        detail = f"finalizer {_ORPHAN} and {_FOREGROUND} cannot be both set"
        problems.invalid(path, finalizers, detail)
