"""What is wrong with a CustomResourceDefinition, besides its metadata.

Source of the rules and texts: apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go. Upstream checks
its internal version, in which what all versions have in common stands at the top of the spec; the paths show it.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from engine.api.crd import jsonpath
from engine.api.crd.cel.field_paths import FieldPathError, normalized
from engine.api.crd.naming import is_true
from engine.api.crd.schema_rules import check_schema
from engine.api.crd.structural import Structural
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems
from engine.api.validation.webhook_client import client_config

_SCOPES = ("Cluster", "Namespaced")
_STRATEGIES = ("None", "Webhook")
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = (
    "binary", "bool", "byte", "cidr", "date", "date-time", "datetime", "double", "duration", "email", "float",
    "hostname", "int32", "int64", "ipv4", "ipv6", "mac", "password", "string", "uri", "uuid", "uuid3", "uuid4", "uuid5",
)  # fmt: skip
_REVIEW_VERSIONS = ("v1", "v1beta1")
_MAX_SELECTABLE = 8
_PROTECTED = ("k8s.io", "kubernetes.io")
_KEP = "https://github.com/kubernetes/enhancements/pull/1111"
_APPROVAL = "api-approved.kubernetes.io"


def custom_resource_definition(obj: Object, problems: Problems) -> None:
    spec, name = obj.get("spec", {}), obj.get("metadata", {}).get("name", "")
    if name != f"{spec.get('names', {}).get('plural', '')}.{spec.get('group', '')}":
        problems.invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    _spec(spec, problems)
    _names((obj.get("status") or {}).get("acceptedNames") or {}, "status.acceptedNames", problems)
    _approval(obj, problems)


def custom_resource_definition_update(new: Object, old: Object, problems: Problems) -> None:
    spec, before = new.get("spec", {}), old.get("spec", {})
    if spec != before:
        _spec(spec, problems)
    if is_true(old, "Established"):
        problems.immutable("spec.scope", spec.get("scope"), before.get("scope"))
        problems.immutable("spec.names.kind", _name(spec, "kind"), _name(before, "kind"))
    problems.immutable("spec.group", spec.get("group"), before.get("group"))
    problems.immutable("spec.names.plural", _name(spec, "plural"), _name(before, "plural"))
    custom_resource_definition_status(new, old, problems)
    if not (old["metadata"].get("annotations") or {}).get(_APPROVAL) and spec != before:
        _approval(new, problems)


def custom_resource_definition_status(new: Object, old: Object, problems: Problems) -> None:
    status, spec = new.get("status") or {}, new.get("spec", {})
    _names(status.get("acceptedNames") or {}, "status.acceptedNames", problems)
    known = {version.get("name") for version in spec.get("versions", ())}
    stored = status.get("storedVersions") or []
    for index, version in enumerate(stored):
        if version not in known:
            text_ = (
                f"missing from spec.versions; {version} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {version} and removes "
                f"{version} from status.storedVersions"
            )
            problems.invalid(f"status.storedVersions[{index}]", version, text_)
    storage = next((each.get("name") for each in spec.get("versions", ()) if each.get("storage")), None)
    if not stored:
        problems.invalid("status.storedVersions", stored, "must have at least one stored version")
    elif storage is not None and storage not in stored:
        problems.invalid("status.storedVersions", stored, f"must have the storage version {storage}")


def _name(spec: Object, field: str) -> Any:
    return spec.get("names", {}).get(field)


def _is_url(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc)


def _approval(obj: Object, problems: Problems) -> None:
    """Groups of the Kubernetes community need its approval (KEP-1111)."""
    group = obj.get("spec", {}).get("group", "")
    if not any(group == each or group.endswith(f".{each}") for each in _PROTECTED):
        return
    value = (obj["metadata"].get("annotations") or {}).get(_APPROVAL, "")
    at = f"metadata.annotations[{_APPROVAL}]"
    needed = f'protected groups must have approval annotation "{_APPROVAL}"'
    if not value:
        problems.required(at, f"{needed}, see {_KEP}")
    elif not value.startswith("unapproved") and not _is_url(value):
        problems.invalid(at, value, f'{needed} with either a URL or a reason starting with "unapproved", see {_KEP}')


def _spec(spec: Object, problems: Problems) -> None:
    group, versions = spec.get("group", ""), spec.get("versions", [])
    if not group:
        problems.required("spec.group")
    elif wrong := text.dns_subdomain(group):
        problems.invalid("spec.group", group, ",".join(wrong))
    elif "." not in group:
        problems.invalid("spec.group", group, "should be a domain with at least one dot")
    problems.one_of("spec.scope", spec.get("scope"), _SCOPES)
    if spec.get("preserveUnknownFields"):
        problems.invalid(
            "spec.preserveUnknownFields",
            True,
            "must be false, use x-kubernetes-preserve-unknown-fields: true in the schema instead",
        )
    for index, version in enumerate(versions):
        if (version.get("schema") or {}).get("openAPIV3Schema") is None:
            problems.required(f"spec.versions[{index}].schema.openAPIV3Schema", "schemas are required")
    _versions(spec, versions, problems)
    _required_names(spec.get("names", {}), problems)
    _names(spec.get("names", {}), "spec.names", problems)
    _conversion(spec.get("conversion") or {}, problems)


def _versions(spec: Object, versions: list[Object], problems: Problems) -> None:
    for index, version in enumerate(versions):
        name = version.get("name", "")
        if wrong := text.dns_1035_label(name):
            problems.invalid(f"spec.versions[{index}].name", name, ",".join(wrong))
        if version.get("deprecationWarning") is not None:
            _deprecation(version, f"spec.versions[{index}]", problems)
    _parts(versions, problems)
    names = [version.get("name", "") for version in versions]
    if len(set(names)) != len(names):
        problems.invalid("spec.versions", versions, "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        problems.invalid("spec.versions", versions, "must have exactly one version marked as storage version")


def _deprecation(version: Object, path: str, problems: Problems) -> None:
    warning, at = version["deprecationWarning"], f"{path}.deprecationWarning"
    if not version.get("deprecated"):
        problems.invalid(at, warning, "can only be set for deprecated versions")
    if len(warning) > 256:
        problems.invalid(at, warning, "must be <= 256 characters long")
    if not warning:
        problems.invalid(at, warning, "must not be an empty string")
    for index, letter in enumerate(warning):
        if not letter.isprintable():
            text_ = f"must only contain printable UTF-8 characters; non-printable character found at index {index}"
            problems.invalid(at, warning, text_)
            break


# -- what versions hold, at the top where they have it in common


def _common(versions: list[Object], field: str) -> bool:
    return all(version.get(field) == versions[0].get(field) for version in versions)


def _parts(versions: list[Object], problems: Problems) -> None:
    if not versions:
        return
    for field, check, top in (
        ("schema", _schema, "validation"),
        ("subresources", _subresources, "subresources"),
        ("additionalPrinterColumns", _columns, "additionalPrinterColumns"),
        ("selectableFields", _selectable, "selectableFields"),
    ):
        if _common(versions, field):
            check(versions[0], f"spec.{top}", problems)
        else:
            for index, version in enumerate(versions):
                check(version, f"spec.versions[{index}].{field}", problems)


def _schema(version: Object, path: str, problems: Problems) -> None:
    raw = (version.get("schema") or {}).get("openAPIV3Schema")
    if raw is not None:
        status = "status" in (version.get("subresources") or {})
        check_schema(raw, f"{path}.openAPIV3Schema", problems, status=status)


def _subresources(version: Object, path: str, problems: Problems) -> None:
    scale = (version.get("subresources") or {}).get("scale")
    if scale is None:
        return
    for field, root in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        value, at = scale.get(field, ""), f"{path}.scale.{field}"
        if not value:
            problems.required(at)
        elif _simple(value, at, problems) and not value.startswith(root):
            problems.invalid(at, value, f"should be a json path under {root.rstrip('.')}")
    selector, at = scale.get("labelSelectorPath", ""), f"{path}.scale.labelSelectorPath"
    if selector and _simple(selector, at, problems) and not selector.startswith((".spec.", ".status.")):
        problems.invalid(at, selector, "should be a json path under either .spec or .status")


def _simple(value: str, path: str, problems: Problems) -> bool:
    if value.startswith("."):
        return True
    problems.invalid(path, value, "must be a simple json path starting with .")
    return False


def _columns(version: Object, path: str, problems: Problems) -> None:
    for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
        at = f"{path}[{index}]"
        if not column.get("name"):
            problems.required(f"{at}.name")
        kind, words = column.get("type", ""), f"must be one of {','.join(_COLUMN_TYPES)}"
        if not kind:
            problems.required(f"{at}.type", words)
        elif kind not in _COLUMN_TYPES:
            problems.invalid(f"{at}.type", kind, words)
        format_ = column.get("format", "")
        if format_ and format_ not in _COLUMN_FORMATS:
            problems.invalid(f"{at}.format", format_, f"must be one of {','.join(_COLUMN_FORMATS)}")
        path_ = column.get("jsonPath", "")
        if not path_:
            problems.required(f"{at}.jsonPath")
        elif _simple(path_, f"{at}.jsonPath", problems):
            try:
                jsonpath.parse(path_)
            except jsonpath.JsonPathError as error:
                problems.invalid(f"{at}.jsonPath", path_, str(error))


def _selectable(version: Object, path: str, problems: Problems) -> None:
    fields = version.get("selectableFields") or []
    raw = (version.get("schema") or {}).get("openAPIV3Schema")
    seen: set[str] = set()
    for index, field in enumerate(fields):
        at, value = f"{path}[{index}].jsonPath", field.get("jsonPath", "")
        if not value:
            problems.required(at)
            continue
        if wrong := _not_selectable(value, Structural(raw or {})):
            problems.invalid(at, value, wrong)
        if value in seen:
            problems.duplicate(at, value)
        seen.add(value)
    if len(fields) > _MAX_SELECTABLE:
        problems.too_many(path, len(fields), _MAX_SELECTABLE)


def _not_selectable(path: str, schema: Structural) -> str:
    try:
        found, node = normalized(path, schema, brackets=False)
    except FieldPathError as error:
        return f"is an invalid path: {error}"
    if found.split(".")[0] == "metadata":
        return "must not point to fields in metadata"
    if node.type not in ("string", "boolean", "integer"):
        return (
            "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are "
            "allowed."
        )
    return ""


# -- names and conversion


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
    for field in ("shortNames", "categories"):
        for index, value in enumerate(names.get(field) or ()):
            if wrong := text.dns_1035_label(value):
                problems.invalid(f"{path}.{field}[{index}]", value, ",".join(wrong))
    if names.get("kind") and names["kind"] == names.get("listKind"):
        problems.invalid(f"{path}.listKind", names["listKind"], "kind and listKind may not be the same")


def _conversion(conversion: Object, problems: Problems) -> None:
    path, strategy = "spec.conversion", conversion.get("strategy")
    problems.one_of(f"{path}.strategy", strategy, _STRATEGIES)
    webhook = conversion.get("webhook")
    if strategy != "Webhook":
        if webhook is not None:
            text_ = "should not be set when strategy is not set to Webhook"
            problems.forbidden(f"{path}.webhookClientConfig", text_)
        return
    client = (webhook or {}).get("clientConfig")
    at = f"{path}.webhookClientConfig"
    if client is None:
        problems.required(at, "required when strategy is set to Webhook")
    else:
        client_config(client, at, problems)
    _review_versions((webhook or {}).get("conversionReviewVersions") or [], problems)


def _review_versions(versions: list[str], problems: Problems) -> None:
    path = "spec.conversion.conversionReviewVersions"
    if not versions:
        problems.required(path)
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            problems.invalid(f"{path}[{index}]", version, "duplicate version")
        else:
            problems.all_invalid(f"{path}[{index}]", version, text.dns_1035_label(version))
    if not any(version in _REVIEW_VERSIONS for version in versions):
        problems.invalid(path, versions, f"must include at least one of {', '.join(_REVIEW_VERSIONS)}")
