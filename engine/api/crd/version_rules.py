"""What one version of a definition says, or all of them alike: schema, subresources, columns, selectable fields.

Source of the rules and texts: apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go. Upstream checks
its internal version, where what all versions have in common stands at the top of the spec (`hoisting`), as paths show.
"""

from __future__ import annotations

from dataclasses import replace

from engine.api.crd.cel.field_paths import FieldPathError, normalized
from engine.api.crd.demands import MAX_SELECTABLE, TOP, Demands
from engine.api.crd.schema_rules import check_schema
from engine.api.crd.structural import Structural
from engine.api.crd.unreadable import why_unreadable
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems

_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")


def check_version(version: Object, index: int, common: Object, demands: Demands, problems: Problems) -> None:
    """A version without what is told of at the top."""
    path, name = f"spec.versions[{index}]", version.get("name", "")
    if wrong := text.dns_1035_label(name):
        problems.invalid(f"{path}.name", name, ",".join(wrong))
    if version.get("deprecationWarning") is not None:
        _deprecation(version, f"{path}.deprecationWarning", problems)
    own = {key: value for key, value in version.items() if key not in common}
    asked = replace(demands, unchanged=demands.unchanged & {name})
    if "schema" in own:
        _schema(own, f"{path}.schema", asked, problems, status=_status(version))
    _subresources(own.get("subresources"), f"{path}.subresources", problems)
    _columns(own, f"{path}.additionalPrinterColumns", problems)
    if not own.get("selectableFields"):
        return
    if (own.get("schema") or {}).get("openAPIV3Schema") is None:
        detail = "may only be set when `version.schema.openAPIV3Schema` is not included"
        problems.invalid(f"{path}.selectableFields", "", detail)
    else:
        many = name in demands.many_selectable
        _selectable(own, path, problems, many=many)


def check_common(versions: list[Object], common: Object, demands: Demands, problems: Problems) -> None:
    """What stands at the top of the spec."""
    if not versions:
        return
    asked = replace(demands, unchanged=demands.unchanged & {versions[0].get("name", "")})
    _schema(common, "spec.validation", asked, problems, status=any(_status(each) for each in versions))
    _subresources(common.get("subresources"), "spec.subresources", problems)
    _columns(common, "spec.additionalPrinterColumns", problems)
    if not common.get("selectableFields"):
        return
    if common.get("schema") is None:
        detail = "may only be set when validations.schema is included"
        problems.invalid("spec.selectableFields", "", detail)
    else:
        _selectable(common, "spec", problems, many=TOP in demands.many_selectable)


def _status(version: Object) -> bool:
    return (version.get("subresources") or {}).get("status") is not None


def _deprecation(version: Object, path: str, problems: Problems) -> None:
    warning = version["deprecationWarning"]
    if not version.get("deprecated"):
        problems.invalid(path, warning, "can only be set for deprecated versions")
        return
    if len(warning.encode(errors="surrogatepass")) > 256:
        problems.invalid(path, warning, "must be <= 256 characters long")
    if not warning:
        problems.invalid(path, warning, "must not be an empty string")
    place = 0
    for letter in warning:
        if not letter.isprintable():
            detail = f"must only contain printable UTF-8 characters; non-printable character found at index {place}"
            problems.invalid(path, warning, detail)
            break
        place += len(letter.encode(errors="surrogatepass"))


def _schema(version: Object, path: str, demands: Demands, problems: Problems, *, status: bool) -> None:
    raw = (version.get("schema") or {}).get("openAPIV3Schema")
    if raw is not None:
        check_schema(raw, f"{path}.openAPIV3Schema", problems, status=status, demands=demands)


def _subresources(subresources: Object | None, path: str, problems: Problems) -> None:
    scale = (subresources or {}).get("scale")
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
        if not column.get("jsonPath"):
            problems.required(f"{at}.JSONPath")
        else:
            _simple(column["jsonPath"], f"{at}.JSONPath", problems)


def _selectable(version: Object, path: str, problems: Problems, *, many: bool) -> None:
    """`many`: there may be too many of them, as before."""
    raw = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    if why := why_unreadable(raw):
        problems.invalid(f"{path}.schema.openAPIV3Schema", "", why)
    schema, path = Structural(raw), f"{path}.selectableFields"
    seen: dict[str, None] = {}
    for index, field in enumerate(version["selectableFields"]):
        at, value = f"{path}[{index}].jsonPath", field.get("jsonPath", "")
        if not value:
            problems.required(at)
            continue
        try:
            found, node = normalized(value, schema, brackets=False)
        except FieldPathError as error:
            problems.invalid(at, value, f"is an invalid path: {error}")
            continue
        if found.split(".")[0] == "metadata":
            problems.invalid(at, value, "must not point to fields in metadata")
        if node.type not in ("string", "boolean", "integer"):
            problems.invalid(at, value, _NOT_SELECTABLE)
        if found in seen:
            problems.duplicate(at, value)
        seen[found] = None
    if len(seen) > MAX_SELECTABLE and not many:
        problems.too_many(path, len(seen), MAX_SELECTABLE)


_NOT_SELECTABLE = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
)
