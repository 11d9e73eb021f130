"""What is wrong with a CustomResourceDefinition, besides its metadata.

Source of the rules and texts: apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go. What all
versions have in common is told of at the top of the spec (`version_rules`).
"""

from __future__ import annotations

from typing import Any

from engine.api.crd.approval import check_approval
from engine.api.crd.conversion_rules import check_conversion
from engine.api.crd.demands import Demands, has_defaults
from engine.api.crd.hoisting import hoisted
from engine.api.crd.internal_form import internal_versions
from engine.api.crd.version_rules import check_common, check_version
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems

_SCOPES = ("Cluster", "Namespaced")


def custom_resource_definition(obj: Object, problems: Problems) -> None:
    spec, metadata = obj.get("spec", {}), obj.get("metadata", {})
    for field in ("generateName", "name"):
        name = metadata.get(field)
        if name and name != f"{_name(spec, 'plural')}.{spec.get('group', '')}":
            problems.invalid(f"metadata.{field}", name, 'must be spec.names.plural+"."+spec.group')
    _spec(spec, Demands(), problems)
    custom_resource_definition_status(obj, None, problems)
    _stored_versions(obj, problems)
    check_approval(obj, None, problems)
    _preserve(spec, {}, problems)


def custom_resource_definition_update(new: Object, old: Object, problems: Problems) -> None:
    spec, before = new.get("spec", {}), old.get("spec", {})
    demands = Demands.of_update(new, old)
    _spec(spec, demands, problems)
    if demands.fixed_names:
        problems.immutable("spec.scope", spec.get("scope", ""), before.get("scope", ""))
        problems.immutable("spec.names.kind", _name(spec, "kind"), _name(before, "kind"))
    problems.immutable("spec.group", spec.get("group", ""), before.get("group", ""))
    problems.immutable("spec.names.plural", _name(spec, "plural"), _name(before, "plural"))
    custom_resource_definition_status(new, old, problems)
    _stored_versions(new, problems)
    check_approval(new, old, problems)
    _preserve(spec, before, problems)


def custom_resource_definition_status(new: Object, old: Object | None, problems: Problems) -> None:
    _names((new.get("status") or {}).get("acceptedNames") or {}, "status.acceptedNames", problems)


def _name(spec: Object, field: str) -> Any:
    return spec.get("names", {}).get(field, "")


def _stored_versions(obj: Object, problems: Problems) -> None:
    path, stored = "status.storedVersions", (obj.get("status") or {}).get("storedVersions")
    if not stored:
        problems.invalid(path, stored, "must have at least one stored version")
        return
    unseen = {version: index for index, version in enumerate(stored)}
    for version in obj.get("spec", {}).get("versions", ()):
        name = version.get("name", "")
        if name in unseen:
            del unseen[name]
        elif version.get("storage"):
            problems.invalid(path, stored, f"must have the storage version {name}")
    for version, index in unseen.items():
        problems.invalid(f"{path}[{index}]", version, _MISSING.format(version))


_MISSING = (
    "missing from spec.versions; {0} was previously a storage version, and must remain in spec.versions until a "
    "storage migration ensures no data remains persisted in {0} and removes {0} from status.storedVersions"
)


def _preserve(spec: Object, before: Object, problems: Problems) -> None:
    if spec.get("preserveUnknownFields") and not before.get("preserveUnknownFields"):
        detail = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        )
        problems.invalid("spec.preserveUnknownFields", True, detail)


def _spec(spec: Object, demands: Demands, problems: Problems) -> None:
    versions = spec.get("versions") or []
    _group(spec.get("group", ""), problems)
    problems.one_of("spec.scope", spec.get("scope"), _SCOPES)
    _schemas(spec, versions, demands, problems)
    _versions(spec, versions, demands, problems)
    check_conversion(spec, demands, problems)


def _group(group: str, problems: Problems) -> None:
    if not group:
        problems.required("spec.group")
    elif wrong := text.dns_subdomain(group):
        problems.invalid("spec.group", group, ",".join(wrong))
    elif "." not in group:
        problems.invalid("spec.group", group, "should be a domain with at least one dot")


def _schemas(spec: Object, versions: list[Object], demands: Demands, problems: Problems) -> None:
    """Whether there are schemas, which were not needed once."""
    for index, version in enumerate(versions):
        if (version.get("schema") or {}).get("openAPIV3Schema") is not None:
            continue
        at = f"spec.versions[{index}].schema.openAPIV3Schema"
        if demands.schemas:
            problems.required(at)
        elif not spec.get("preserveUnknownFields") and version.get("served"):
            problems.required(at, "because otherwise all fields are pruned")
    if spec.get("preserveUnknownFields") and has_defaults(spec):
        detail = "must be false in order to use defaults in the schema"
        problems.invalid("spec.preserveUnknownFields", True, detail)


def _versions(spec: Object, versions: list[Object], demands: Demands, problems: Problems) -> None:
    common, asked = hoisted(versions), demands.for_schemas(spec)
    for index, version in enumerate(versions):
        check_version(version, index, common, asked, problems)
    names, given = [version.get("name", "") for version in versions], spec.get("versions")
    if len(set(names)) != len(names):
        problems.invalid("spec.versions", internal_versions(given, common), "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        detail = "must have exactly one version marked as storage version"
        problems.invalid("spec.versions", internal_versions(given, common), detail)
    if names and names[0] and (wrong := text.dns_1035_label(names[0])):
        problems.invalid("spec.version", names[0], ",".join(wrong))
    _required_names(spec.get("names", {}), problems)
    _names(spec.get("names", {}), "spec.names", problems)
    check_common(versions, common, asked, problems)


def _required_names(names: Object, problems: Problems) -> None:
    for field in ("plural", "singular", "kind", "listKind"):
        if not names.get(field):
            problems.required(f"spec.names.{field}")


def _names(names: Object, path: str, problems: Problems) -> None:
    for field in ("plural", "singular"):
        value = names.get(field, "")
        if value and (wrong := text.dns_1035_label(value)):
            problems.invalid(f"{path}.{field}", value, ",".join(wrong))
    for field in ("kind", "listKind"):
        value = names.get(field, "")
        if value and (wrong := text.dns_1035_label(value.lower())):
            mixed = "may have mixed case, but should otherwise match: "
            problems.invalid(f"{path}.{field}", value, mixed + ",".join(wrong))
    for index, value in enumerate(names.get("shortNames") or ()):
        if wrong := text.dns_1035_label(value):
            problems.invalid(f"{path}.shortNames[{index}]", value, ",".join(wrong))
    if names.get("kind") and names["kind"] == names.get("listKind"):
        problems.invalid(f"{path}.listKind", names["listKind"], "kind and listKind may not be the same")
    for index, value in enumerate(names.get("categories") or ()):
        if wrong := text.dns_1035_label(value):
            problems.invalid(f"{path}.categories[{index}]", value, ",".join(wrong))
