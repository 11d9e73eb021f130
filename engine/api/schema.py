"""The published OpenAPI schemas of a Kubernetes version, as a tree of nodes.

The schemas come from the kubernetes-validate package, which ships one file of definitions for every minor version.
A node knows a field's type and how it merges (list type, map keys, patch strategy); references are followed when a
node is first asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from engine.api.types import GVK

if TYPE_CHECKING:
    from engine.api.extension import Extension

INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
TIME = "io.k8s.apimachinery.pkg.apis.meta.v1.Time"
MICRO_TIME = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"
DURATION = "io.k8s.apimachinery.pkg.apis.meta.v1.Duration"
FIELDS_V1 = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"
RAW_EXTENSION = "io.k8s.apimachinery.pkg.runtime.RawExtension"
_REFERENCE = "#/$defs/"


class UnknownVersionError(ValueError):
    """No schemas for this Kubernetes version. The message lists those that there are."""


JSON_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"


class Schema:
    """One node: the schema of a value. `raw` is the JSON schema, references and all.

    `definition` is the name of the definition that the node stands for, such as `io.k8s.api.apps.v1.DeploymentSpec`,
    or "" for an inline schema.
    """

    # Whether status is a subresource where there is one, so that no write to the object itself touches it.
    status_apart = True
    # Whether it is the schema of a built-in kind, which no object has ever had otherwise.
    fixed = True

    def __init__(self, definitions: Definitions, raw: Mapping[str, Any], definition: str = "") -> None:
        self._definitions = definitions
        self.raw = raw
        self.definition = definition

    @property
    def release(self) -> tuple[int, int]:
        """The Kubernetes version that it is of, for what differs between them."""
        return self._definitions.release

    def other(self, definition: str) -> Schema:
        """What the definition of a name stands for, among those that this one is of."""
        return self._definitions[definition]

    def __repr__(self) -> str:
        return f"<Schema {self.definition or self.type or 'any'}>"

    @cached_property
    def type(self) -> str:
        """`object`, `array`, `string`, `integer`, `number`, `boolean`, or "" where any value will do."""
        kind = self.raw.get("type", "")
        if isinstance(kind, list):  # kubernetes-validate writes optional fields as [type, "null"]
            kind = next((item for item in kind if item != "null"), "")
        return str(kind)

    @property
    def format(self) -> str:
        return str(self.raw.get("format", ""))

    @property
    def description(self) -> str:
        return str(self.raw.get("description", ""))

    @property
    def int_or_string(self) -> bool:
        return self.definition == INT_OR_STRING or bool(self.raw.get("x-kubernetes-int-or-string"))

    @property
    def quantity(self) -> bool:
        return self.definition == QUANTITY

    @cached_property
    def required(self) -> tuple[str, ...]:
        return tuple(self.raw.get("required", ()))

    @cached_property
    def properties(self) -> Mapping[str, Schema]:
        return {name: self._definitions.node(raw) for name, raw in self.raw.get("properties", {}).items()}

    @cached_property
    def items(self) -> Schema | None:
        """Of an array: the schema of its elements."""
        raw = self.raw.get("items")
        return self._definitions.node(raw) if raw is not None else None

    @cached_property
    def values(self) -> Schema | None:
        """Of a map: the schema of its values; None where the object has fixed fields only."""
        raw = self.raw.get("additionalProperties")
        return self._definitions.node(raw) if isinstance(raw, dict) else None

    @property
    def open(self) -> bool:
        """Whether fields that are not listed are kept: an object with neither properties nor typed values, or one
        that says so."""
        if self.raw.get("x-kubernetes-preserve-unknown-fields"):
            return True
        return not self.properties and self.values is None

    def field(self, name: str) -> Schema | None:
        """The schema of a field of an object or a key of a map; None if it is not known."""
        return self.properties.get(name) or self.values

    # -- how values merge

    @property
    def list_type(self) -> str:
        """`atomic`, `set` or `map` (atomic where the schema does not say)."""
        return str(self.raw.get("x-kubernetes-list-type", "atomic"))

    @property
    def list_map_keys(self) -> tuple[str, ...]:
        return tuple(self.raw.get("x-kubernetes-list-map-keys", ()))

    @property
    def map_type(self) -> str:
        """`granular` or `atomic`."""
        return str(self.raw.get("x-kubernetes-map-type", "granular"))

    @property
    def patch_merge_key(self) -> str:
        return str(self.raw.get("x-kubernetes-patch-merge-key", ""))

    @cached_property
    def patch_strategies(self) -> frozenset[str]:
        """`merge`, `replace`, `retainKeys`: what a strategic merge patch does here."""
        return frozenset(filter(None, str(self.raw.get("x-kubernetes-patch-strategy", "")).split(",")))


class Definitions(Mapping[str, Schema]):
    """All definitions of one version, by name. `kind` finds the definition of a group, version and kind."""

    def __init__(self, version: str, raw: Mapping[str, Mapping[str, Any]]) -> None:
        self.version = version
        self.raw = raw
        self._nodes: dict[str, Schema] = {}

    @cached_property
    def release(self) -> tuple[int, int]:
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)

    @property
    def root(self) -> Definitions:
        """The built-in definitions, where there are others besides."""
        return self

    @property
    def extensions(self) -> Mapping[GVK, Extension]:
        """The custom kinds."""
        return {}

    def __getitem__(self, name: str) -> Schema:
        if name not in self._nodes:
            self._nodes[name] = Schema(self, self.raw[name], name)
        return self._nodes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)

    def node(self, raw: Mapping[str, Any]) -> Schema:
        """The node of an inline schema, its reference followed. What stands beside a reference overlays its target."""
        reference = raw.get("$ref")
        if reference is None:
            return Schema(self, raw)
        target = self[str(reference).removeprefix(_REFERENCE)]
        overlay = {key: value for key, value in raw.items() if key.startswith("x-kubernetes-")}
        if not overlay:
            return target
        return Schema(self, {**target.raw, **overlay}, target.definition)

    @cached_property
    def kinds(self) -> Mapping[GVK, str]:
        """The definition's name of every kind that has one."""
        found: dict[GVK, str] = {}
        for name, raw in self.raw.items():
            gvks = raw.get("x-kubernetes-group-version-kind", ())
            if len(gvks) == 1:
                found[GVK(gvks[0]["group"], gvks[0]["version"], gvks[0]["kind"])] = name
        return found

    def kind(self, gvk: GVK) -> Schema | None:
        name = self.kinds.get(gvk)
        return self[name] if name is not None else None


def _schema_folder() -> Path:
    spec = find_spec("kubernetes_validate")  # found, not imported: importing it takes longer than all of ours
    if spec is None or not spec.submodule_search_locations:
        raise UnknownVersionError("the kubernetes-validate package, which carries the schemas, is not installed")
    return Path(spec.submodule_search_locations[0]) / "kubernetes-json-schema"


@lru_cache(maxsize=1)
def available_versions() -> tuple[str, ...]:
    """The Kubernetes versions that there are schemas for, oldest first, as in `1.33.0`."""
    found = [match[1] for entry in _schema_folder().iterdir() if (match := re.fullmatch(r"v(.+)-local", entry.name))]
    return tuple(sorted(found, key=lambda version: tuple(int(part) for part in version.split("."))))


def resolve_version(wanted: str = "") -> str:
    """The full version of `1.33`, `v1.33` or `1.33.0`; the newest for "". Raises UnknownVersionError."""
    versions = available_versions()
    if not wanted:
        return versions[-1]
    plain = wanted.removeprefix("v")
    for version in reversed(versions):
        if version == plain or version.startswith(plain + ".") or version.split(".")[:2] == plain.split(".")[:2]:
            return version
    raise UnknownVersionError(f"no schemas for Kubernetes {wanted}; there are: {', '.join(versions)}")


def load_definitions(version: str = "") -> Definitions:
    """The definitions of a Kubernetes version (the newest for ""). Raises UnknownVersionError."""
    return _load(resolve_version(version))


@lru_cache(maxsize=4)
def _load(version: str) -> Definitions:
    """Kept by the full version, so that all who ask share one copy, whatever they call it."""
    file = _schema_folder() / f"v{version}-local" / "_definitions.json"
    return Definitions(version, orjson.loads(file.read_bytes())["$defs"])
