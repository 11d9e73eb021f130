"""A kustomization's values as encoding/json takes them into Go's structs: unknown fields are refused, wrong types too,
and a field is known whatever the case of its letters.

Source of the behaviour: kustomize api/types, encoding/json (DisallowUnknownFields).
"""

from __future__ import annotations

from typing import Any

from engine.kubectl.kustomize.errors import BuildError

ANY = "interface {}"
_STRINGS = "[]string"
_TEXTS = "map[string]string"
_GVK = {"group": "string", "version": "string", "kind": "string"}
_ID = {**_GVK, "name": "string", "namespace": "string"}
_FIELD_OPTIONS = {"delimiter": "string", "index": "int", "encoding": "string", "create": "bool"}
_OPTIONS = {"labels": _TEXTS, "annotations": _TEXTS, "disableNameSuffixHash": "bool", "immutable": "bool"}
_GENERATOR = {
    "namespace": "string", "name": "string", "behavior": "string", "literals": _STRINGS, "files": _STRINGS,
    "envs": _STRINGS, "env": "string", "options": "*types.GeneratorOptions",
}  # fmt: skip
STRUCTS: dict[str, dict[str, str]] = {
    "types.Kustomization": {
        "apiVersion": "string", "kind": "string", "metadata": "types.ObjectMeta", "openapi": _TEXTS,
        "namePrefix": "string", "nameSuffix": "string", "namespace": "string", "commonLabels": _TEXTS,
        "labels": "[]types.Label", "commonAnnotations": _TEXTS,
        "patchesStrategicMerge": "[]types.PatchStrategicMerge", "patchesJson6902": "[]types.Patch",
        "patches": "[]types.Patch", "images": "[]types.Image", "imageTags": "[]types.Image",
        "replacements": "[]types.ReplacementField", "replicas": "[]types.Replica", "vars": "[]types.Var",
        "sortOptions": "types.SortOptions", "resources": _STRINGS, "components": _STRINGS, "crds": _STRINGS,
        "bases": _STRINGS, "configMapGenerator": "[]types.ConfigMapArgs", "secretGenerator": "[]types.SecretArgs",
        "helmGlobals": ANY, "helmCharts": f"[]{ANY}", "helmChartInflationGenerator": f"[]{ANY}",
        "generatorOptions": "types.GeneratorOptions", "configurations": _STRINGS, "generators": _STRINGS,
        "transformers": _STRINGS, "validators": _STRINGS, "inventory": ANY, "buildMetadata": _STRINGS,
    },
    "types.ObjectMeta": {"name": "string", "namespace": "string", "labels": _TEXTS, "annotations": _TEXTS},
    "types.Label": {
        "pairs": _TEXTS, "includeSelectors": "bool", "includeTemplates": "bool", "fields": "[]types.FieldSpec",
    },
    "types.FieldSpec": {**_GVK, "path": "string", "create": "bool"},
    "types.Patch": {"path": "string", "patch": "string", "target": "types.Selector", "options": "map[string]bool"},
    "types.Selector": {**_ID, "annotationSelector": "string", "labelSelector": "string"},
    "types.Image": dict.fromkeys(("name", "newName", "tagSuffix", "newTag", "digest"), "string"),
    "types.ReplacementField": {
        "path": "string", "source": "types.SourceSelector", "sourceValue": "string",
        "targets": "[]types.TargetSelector",
    },
    "types.SourceSelector": {**_ID, "fieldPath": "string", "options": "types.FieldOptions"},
    "types.TargetSelector": {
        "select": "types.Selector", "reject": "[]types.Selector", "fieldPaths": _STRINGS,
        "options": "types.FieldOptions",
    },
    "types.FieldOptions": _FIELD_OPTIONS,
    "types.Replica": {"name": "string", "count": "int64"},
    "types.Var": {"name": "string", "objref": "types.Target", "fieldref": "types.FieldSelector"},
    "types.Target": {"apiVersion": "string", **_ID},
    "types.FieldSelector": {"fieldPath": "string"},
    "types.SortOptions": {"order": "string", "legacySortOptions": "types.LegacySortOptions"},
    "types.LegacySortOptions": {"orderFirst": _STRINGS, "orderLast": _STRINGS},
    "types.ConfigMapArgs": _GENERATOR,
    "types.SecretArgs": {**_GENERATOR, "type": "string"},
    "types.GeneratorOptions": _OPTIONS,
    "*types.GeneratorOptions": _OPTIONS,
}  # fmt: skip
_SCALARS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "types.PatchStrategicMerge": (str,),
    "bool": (bool,),
    "int": (int,),
    "int64": (int,),
}


def decoded(value: Any, go_type: str, *, strict: bool = True) -> Any:
    """A value with its fields under their own names. Raises BuildError. `strict` refuses unknown fields."""
    return _Decoder(strict).value(value, go_type, "", "")


class _Decoder:
    def __init__(self, strict: bool) -> None:
        self._strict = strict

    def value(self, value: Any, go_type: str, owner: str, path: str) -> Any:
        if value is None or go_type == ANY:
            return value
        if go_type.startswith("[]"):
            if not isinstance(value, list):
                raise _mismatch(value, go_type, owner, path)
            return [self.value(item, go_type[2:], owner, path) for item in value]
        if go_type.startswith("map["):
            if not isinstance(value, dict):
                raise _mismatch(value, go_type, owner, path)
            inner = go_type.partition("]")[2]
            return {key: self.value(item, inner, owner, path) for key, item in value.items()}
        if go_type in STRUCTS:
            return self._struct(value, go_type, owner, path)
        fits = isinstance(value, _SCALARS[go_type]) and (go_type == "bool" or not isinstance(value, bool))
        if not fits:
            raise _mismatch(value, "string" if _SCALARS[go_type] == (str,) else go_type, owner, path)
        return value

    def _struct(self, value: Any, go_type: str, owner: str, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _mismatch(value, go_type.removeprefix("*"), owner, path)
        known = {name.lower(): name for name in STRUCTS[go_type]}
        result: dict[str, Any] = {}
        # Fields come in the order of their names: the YAML has become JSON before.
        for key in sorted(value):
            name = known.get(key.lower())
            if name is None:
                if self._strict:
                    raise BuildError(f'json: unknown field "{key}"')
                continue
            inner, mine = STRUCTS[go_type][name], go_type.rpartition(".")[2]
            result[name] = self.value(value[key], inner, mine, f"{path}.{name}" if path else name)
        return {name: item for name, item in result.items() if item is not None}


def _mismatch(value: Any, go_type: str, owner: str, path: str) -> BuildError:
    """Go names the struct that has the field, and the way to it."""
    words = {dict: "object", list: "array", str: "string", bool: "bool"}
    what = words.get(type(value), "number")
    if not path:
        return BuildError(f"json: cannot unmarshal {what} into Go value of type {go_type}")
    return BuildError(f"json: cannot unmarshal {what} into Go struct field {owner}.{path} of type {go_type}")
