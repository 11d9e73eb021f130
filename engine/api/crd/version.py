"""One version of a CustomResourceDefinition, compiled: the `Extension` of its ResourceInfo."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import orjson

from engine.api.crd import columns
from engine.api.crd.decoding import decode_custom
from engine.api.crd.defaulting import completed
from engine.api.crd.embedded import check_embedded
from engine.api.crd.list_types import check_list_types
from engine.api.crd.number_ranges import ENFORCED_SINCE, NOWHERE, tells_format
from engine.api.crd.object_meta import coerced
from engine.api.crd.pruning import prune
from engine.api.crd.published import list_name, published, published_list, published_name
from engine.api.crd.repairing import repaired
from engine.api.crd.scale_rules import check_scale
from engine.api.crd.structural import MISSING, Structural
from engine.api.crd.values import check_value, within
from engine.api.errors import Cause, field_invalid
from engine.api.extension import ScalePaths
from engine.api.jsonpath import JsonPath
from engine.api.resources import version_order
from engine.api.schema import Definitions, Schema
from engine.api.tables.columns import KindTable, Row
from engine.api.turns import Work
from engine.api.types import GVK, Object
from engine.api.validation.problems import Problems

if TYPE_CHECKING:
    from engine.api.crd.cel.rules import Validator

_CACHE = 10_000
# With one of these the rules are not asked: they may count on a value of the right form.
_BLOCKING = frozenset(
    (
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    )
)
_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


class CustomVersion:
    def __init__(self, definitions: Definitions, definition: Object, version: Object) -> None:
        spec = definition["spec"]
        self._definitions = definitions
        self._definition = definition
        self._spec = version
        self.names: Object = (definition.get("status") or {}).get("acceptedNames") or spec["names"]
        self.gvk = GVK(spec["group"], version["name"], self.names["kind"])
        self.raw: Object = _schema_of(version)
        self._schemas = {each["name"]: _schema_of(each) for each in spec["versions"]}
        self._replicas = {f"{spec['group']}/{each['name']}": _replicas_of(each) for each in spec["versions"]}
        self._instead = _newer(spec["versions"], version["name"])
        self._storage = next(each["name"] for each in spec["versions"] if each["storage"])
        self.structural = Structural(self.raw)
        self.subresources: Object = version.get("subresources") or {}
        self.terminating = "deletionTimestamp" in definition["metadata"]
        self.webhook: Object | None = None
        if (spec.get("conversion") or {}).get("strategy") == "Webhook":
            self.webhook = spec["conversion"]["webhook"]
        self._read: OrderedDict[tuple[str, str], Object] = OrderedDict()
        self._others: dict[str, Structural] = {}
        self._other_schemas: dict[str, Schema] = {}

    @property
    def warning(self) -> str:
        if not self._spec.get("deprecated"):
            return ""
        if (said := self._spec.get("deprecationWarning")) is not None:
            return str(said)
        text = f"{self.gvk.api_version} {self.gvk.kind} is deprecated"
        return f"{text}; use {self.gvk.group}/{self._instead} {self.gvk.kind}" if self._instead else text

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(orjson.dumps([self.raw, self.subresources, self._selectable])).hexdigest()

    @cached_property
    def table(self) -> KindTable[Row]:
        return columns.layout(self._spec.get("additionalPrinterColumns") or ())

    @cached_property
    def scale(self) -> ScalePaths | None:
        scale = self.subresources.get("scale")
        if scale is None:
            return None
        return ScalePaths(
            _fields(scale["specReplicasPath"]),
            _fields(scale["statusReplicasPath"]),
            _fields(scale.get("labelSelectorPath", "")),
            self._replicas,
        )

    # -- the published schema

    @property
    def _selectable(self) -> list[str]:
        return [field["jsonPath"].removeprefix(".") for field in self._spec.get("selectableFields") or ()]

    @cached_property
    def published(self) -> dict[str, Object]:
        """The definitions of the kind and of its list, by name."""
        name, list_kind = self._name, self.names.get("listKind") or f"{self.gvk.kind}List"
        return {
            name: published(self.gvk, self.raw, self._selectable),
            self._free(list_name(self.gvk, list_kind)): published_list(self.gvk, list_kind, self.names["plural"], name),
        }

    @property
    def _name(self) -> str:
        return self._free(published_name(self.gvk))

    def _free(self, name: str) -> str:
        """Upstream's merge of OpenAPI documents numbers what has the name of something else (kube-openapi
        pkg/aggregator)."""
        numbered = (f"{name}_v{n}" for n in count(2))
        return next(each for each in chain([name], numbered) if each not in self._definitions.raw)

    @cached_property
    def schema(self) -> Schema:
        schema = Schema(self._definitions, self.published[self._name], self._name)
        schema.status_apart = "status" in self.subresources
        schema.fixed = False
        return schema

    def schema_of(self, version: str) -> Schema | None:
        if version == self.gvk.version:
            return self.schema
        if version in self._schemas and version not in self._other_schemas:
            spec = next(each for each in self._definition["spec"]["versions"] if each["name"] == version)
            self._other_schemas[version] = CustomVersion(self._definitions, self._definition, spec).schema
        return self._other_schemas.get(version)

    # -- objects

    def decode(self, value: Any) -> tuple[Object, list[str]]:
        return decode_custom(self._definitions, self.structural, value, gvk=self.gvk)

    def complete(self, obj: Object) -> None:
        filled = completed(self.structural, obj)
        if filled is not obj:
            obj.update(filled)

    @cached_property
    def _rules(self) -> Validator | None:
        """CEL is loaded with the first definition that has rules."""
        if not self.structural.has_rules:
            return None
        from engine.api.crd.cel.rules import Validator

        return Validator.of(self.structural)

    def problems(
        self, new: Object, old: Object | None, warned: list[str], *, known: Sequence[Cause] = (), status: bool = False
    ) -> Work[list[Cause]]:
        problems = Problems()
        content = _content(new)
        if not status:
            check_value(self.structural, content, "", problems, old=_content(old) if old is not None else MISSING)
            problems[:] = [cause._replace(field=cause.field.removeprefix(".") or NOWHERE) for cause in problems]
        elif "status" in content and (schema := self.structural.properties.get("status")) is not None:
            check_value(schema, content["status"], "", problems, old=(old or {}).get("status", MISSING))
            problems[:] = [cause._replace(field=within("status", cause.field)) for cause in problems]
        if self._definitions.release < ENFORCED_SINCE:
            problems[:] = [cause for cause in problems if not tells_format(cause)]
        if self.scale is not None:
            check_scale(self.scale, new, problems, status=status)
        if not status:
            check_embedded(self.structural, new, "", problems)
        if old is None or not self._repeats(_content(old)):
            check_list_types(self.structural, content, "", problems)
        rules = self._rules
        if rules is None:
            return problems
        if any(cause.reason in _BLOCKING for cause in (*known, *problems)):
            problems.append(field_invalid("<nil>", None, _NOT_CHECKED))
        else:
            let_be = yield from rules.check(new, old if old is not None else MISSING, "", problems)
            warned.extend(map(str, let_be))
        return problems

    def _repeats(self, old: Object) -> bool:
        """Whether lists that may hold nothing twice do so already: then they are let be."""
        found = Problems()
        check_list_types(self.structural, old, "", found)
        return bool(found)

    def selectable(self, obj: Object) -> dict[str, str]:
        selectable = {name: columns.found_by(path, obj) for name, path in self._selectable_paths}
        return {name: _text(found[0]) if found else "" for name, found in selectable.items()}

    @cached_property
    def _selectable_paths(self) -> list[tuple[str, JsonPath]]:
        paths = [field["jsonPath"] for field in self._spec.get("selectableFields") or ()]
        return [(path.lstrip("."), columns.template_of(path)) for path in paths]

    # -- what is stored

    def read(self, stored: Object) -> Object:
        metadata = stored["metadata"]
        key = (metadata.get("uid", ""), metadata.get("resourceVersion", ""))
        known = self._read.get(key)
        if known is not None:
            return known
        if self.webhook is not None and not self.known(stored):
            return {
                **stored,
                "apiVersion": self.gvk.api_version,
            }  # nobody has asked the webhook: labels are all that counts
        return self.keep(stored, self.own(stored))

    def own(self, stored: Object) -> Object:
        """A stored object as the version that it is stored in has it: repaired, pruned and defaulted. This is what is
        converted; a version that it is converted to prunes it, but has no defaults for it."""
        schema = self._schema(stored.get("apiVersion", "").rpartition("/")[2])
        return completed(schema, repaired(self._definitions, schema, prune(schema, stored, [])))

    def pruned(self, obj: Object) -> Object:
        made: Object = coerced(self._definitions, self.structural, prune(self.structural, obj, []), "", [], drop=True)
        return made

    def stored(self, obj: Object) -> Object:
        """An object of this version, or one that a webhook has made of it, in the version that is stored."""
        target = self.gvk._replace(version=self._storage)
        obj = {**obj, "apiVersion": target.api_version, "kind": target.kind}
        return prune(self._schema(self._storage), obj, [])

    def _schema(self, version: str) -> Structural:
        if version == self.gvk.version or version not in self._schemas:
            return self.structural
        if version not in self._others:
            self._others[version] = Structural(self._schemas[version])
        return self._others[version]

    def known(self, stored: Object) -> bool:
        """Whether `read` needs no conversion for this object."""
        metadata = stored["metadata"]
        key = (metadata.get("uid", ""), metadata.get("resourceVersion", ""))
        return key in self._read or stored.get("apiVersion") == self.gvk.api_version

    def keep(self, stored: Object, converted: Object) -> Object:
        """Remember what a stored object is in this version."""
        metadata = stored["metadata"]
        if converted.get("apiVersion") != self.gvk.api_version or converted.get("kind") != self.gvk.kind:
            converted = {**converted, "apiVersion": self.gvk.api_version, "kind": self.gvk.kind}
        shown = prune(self.structural, converted, [])
        self._read[metadata.get("uid", ""), metadata.get("resourceVersion", "")] = shown
        if len(self._read) > _CACHE:
            self._read.popitem(last=False)
        return shown


def _newer(versions: Sequence[Object], than: str) -> str:
    """The best served version that is preferred to one and not deprecated; "" for none."""
    fit = [each["name"] for each in versions if each.get("served") and not each.get("deprecated")]
    return min((each for each in fit if version_order(each) < version_order(than)), key=version_order, default="")


def _schema_of(version: Object) -> Object:
    schema: Object | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _fields(path: str) -> tuple[str, ...]:
    """The names of a path that is nothing but fields, such as `.spec.replicas`."""
    return tuple(name for name in path.split(".") if name)


def _replicas_of(version: Object) -> tuple[str, ...]:
    scale = (version.get("subresources") or {}).get("scale")
    return _fields(scale["specReplicasPath"]) if scale else ()


def _content(obj: Object) -> Object:
    """The object without what its schema need not describe (metadata is checked for all kinds alike)."""
    metadata = {name: obj["metadata"][name] for name in ("name", "generateName") if name in obj.get("metadata", {})}
    return {**obj, "metadata": metadata}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
