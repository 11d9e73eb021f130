"""`patches`, `patchesStrategicMerge` and `patchesJson6902`.

Source of the behaviour: kustomize api/internal/builtins (PatchTransformer.go, PatchStrategicMergeTransformer.go,
PatchJson6902Transformer.go).
"""

from __future__ import annotations

import json
from typing import Any

from engine.api.errors import ApiError
from engine.api.golang.text import quoted
from engine.api.patch import json_patch
from engine.kubectl import yaml
from engine.kubectl.kustomize import manifests
from engine.kubectl.kustomize.errors import BuildError, within
from engine.kubectl.kustomize.loader import Loader
from engine.kubectl.kustomize.merging import merge
from engine.kubectl.kustomize.resource import Resource, copied
from engine.kubectl.kustomize.resources import Resources
from engine.kubectl.kustomize.selecting import Selector


def strategic(loader: Loader, sources: list[str]) -> list[Resource]:
    """The patches of `patchesStrategicMerge`, each a file or a patch itself."""
    found: list[Resource] = []
    for source in sources:
        try:
            inline = manifests.resources(source)
        except BuildError:
            inline = []
        found += inline or manifests.resources(loader.read(source).decode("utf-8", "replace"), file=source)
    return found


def apply_strategic(patch: Resource, resources: Resources) -> None:
    """To the one resource that a patch names."""
    merge_into(resources.one(patch.original_id), patch)


class Patch:
    """An entry of `patches`. Raises BuildError where it is none."""

    def __init__(self, loader: Loader, entry: dict[str, Any]) -> None:
        self._target = Selector.read(entry["target"]) if entry.get("target") else None
        self._options: dict[str, bool] = entry.get("options") or {}
        shown = yaml.dump(_shown(entry))
        with within(f"trouble configuring builtin PatchTransformer with config: `\n{shown}`"):
            self._read(loader, entry, shown)

    def _read(self, loader: Loader, entry: dict[str, Any], shown: str) -> None:
        text, path = str(entry.get("patch") or "").strip(), str(entry.get("path") or "")
        if not text and not path:
            raise BuildError(f"must specify one of patch and path in\n{shown}")
        if text and path:
            raise BuildError(f"patch and path can't be set at the same time\n{shown}")
        self._source = f"[path: {quoted(path)}]" if path else f"[patch: {quoted(text)}]"
        if path:
            with within(f"failed to get the patch file from path({path})"):
                text = loader.read(path).decode("utf-8", "replace")
        self._merges, self._operations = _parsed(text, self._source)

    def apply(self, resources: Resources) -> None:
        if self._operations is None:
            for patch in self._merges:
                self._merge(patch, resources)
            return
        if self._target is None:
            raise BuildError(f"must specify a target for JSON patch {self._source}")
        for resource in self._target.select(resources):
            resource.remember()
            resource.obj = operate(resource.obj, self._operations)

    def _merge(self, patch: Resource, resources: Resources) -> None:
        if self._target is None:
            with within(f'no resource matches strategic merge patch "{patch.original_id}"'):
                resource = resources.one(patch.original_id)
            merge_into(resource, patch, self._options)
            return
        for resource in self._target.select(resources):
            fitting = Resource(copied(patch.obj))
            fitting.obj["apiVersion"] = resource.obj.get("apiVersion")
            if not self._options.get("allowKindChange"):
                fitting.obj["kind"] = resource.kind
            merge_into(resource, fitting, self._options)


def _shown(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value}


def _parsed(text: str, source: str) -> tuple[list[Resource], list[Any] | None]:
    """The strategic merge patches of a text, or the operations of a JSON patch."""
    problem = ""
    merges: list[Resource] = []
    try:
        merges = manifests.resources(text)
    except BuildError as error:
        problem = str(error)
    operations = _operations(text)
    if not operations and not problem:
        return merges, None
    if operations is None:
        raise BuildError(f"unable to parse SM or JSON patch from {source}")
    if merges:
        raise BuildError(f"illegally qualifies as both an SM and JSON patch: {source}")
    return merges, operations


def _operations(text: str) -> list[Any] | None:
    try:
        value = json.loads(text) if text.startswith("[") else yaml.load(text)
    except ValueError:
        try:
            value = yaml.load(text)
        except yaml.YamlError:
            return None
    good = isinstance(value, list) and all(isinstance(item, dict) for item in value)
    return value if good else None


def operate(obj: dict[str, Any], operations: list[Any]) -> dict[str, Any]:
    """The object after a JSON patch. Raises BuildError in the words of evanphx/json-patch."""
    try:
        return dict(json_patch(obj, operations))
    except ApiError as error:
        raise BuildError(str(error.__cause__ or error.message)) from error


def merge_into(resource: Resource, patch: Resource, options: dict[str, bool] | None = None) -> None:
    """Merge a patch; name, namespace and kind stay unless a change of them was allowed."""
    options = options or {}
    name, namespace, kind = resource.name, resource.namespace, resource.kind
    if options.get("allowNameChange") or options.get("allowKindChange"):
        resource.remember()
    merged = merge(resource.obj, patch.obj)
    resource.obj = merged or {}
    if not merged:
        return
    if not options.get("allowKindChange"):
        resource.obj["kind"] = kind
    if not options.get("allowNameChange"):
        resource.name = name
    if namespace:
        resource.obj["metadata"]["namespace"] = namespace
    else:
        resource.metadata.pop("namespace", None)
