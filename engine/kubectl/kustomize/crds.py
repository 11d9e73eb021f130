"""What `crds` files say of fields: names of other resources, labels, annotations and names.

The files hold OpenAPI definitions by type. Source of the behaviour: kustomize api/internal/accumulator
(loadconfigfromcrds.go).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.api.golang.yaml import YamlError, load
from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.fields import FieldSpec
from engine.kubectl.kustomize.identity import Gvk
from engine.kubectl.kustomize.loader import Loader

_TYPE_FIELDS = ("kind", "apiVersion", "metadata")
_MARKS = {
    "x-kubernetes-annotation": "commonAnnotations",
    "x-kubernetes-label-selector": "commonLabels",
    "x-kubernetes-identity": "namePrefix",
}
_VERSION, _KIND = "x-kubernetes-object-ref-api-version", "x-kubernetes-object-ref-kind"
_NAME = "x-kubernetes-object-ref-name-key"


def entries(loader: Loader, files: list[str]) -> Iterator[tuple[str, Any]]:
    """Pairs of a field list's name and a spec, as a configuration would have them. Raises BuildError."""
    for file in files:
        try:
            types = load(loader.read(file))
        except YamlError as error:
            raise BuildError(f"unable to parse open API definition from '{file}': {error}") from error
        for name in sorted(types) if isinstance(types, dict) else ():
            if all(field in _properties(types, name) for field in _TYPE_FIELDS):
                yield from _of_type(types, name, Gvk(kind=name.rpartition(".")[2]), [])


def _properties(types: dict[str, Any], name: str) -> dict[str, Any]:
    schema = (types.get(name) or {}).get("Schema") or (types.get(name) or {}).get("schema") or {}
    found: dict[str, Any] = schema.get("properties") or {}
    return found


def _of_type(types: dict[str, Any], name: str, gvk: Gvk, path: list[str]) -> Iterator[tuple[str, Any]]:
    properties = _properties(types, name)
    for field in sorted(properties):
        node, place = properties[field], [*path, field]
        for mark, specs in _MARKS.items():
            if mark in node:
                yield specs, FieldSpec("/".join(place), gvk)
        if _VERSION in node and _KIND in node:
            target = Gvk("", node[_VERSION], node[_KIND])
            yield "nameReference", (target, [FieldSpec("/".join([*place, node.get(_NAME, "name")]), gvk)])
        if reference := node.get("$ref"):
            yield from _of_type(types, reference, gvk, place)
