"""`labels`, `commonLabels`, `commonAnnotations`, `images` and `replicas`: values put into fields.

Source of the behaviour: kustomize api/internal/builtins (LabelTransformer.go, AnnotationsTransformer.go,
ImageTagTransformer.go, ReplicaCountTransformer.go), api/filters/imagetag and api/image.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from engine.kubectl.kustomize import builtin_fields
from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.fields import FieldSpec, change, merged
from engine.kubectl.kustomize.identity import Gvk, Id
from engine.kubectl.kustomize.resources import Resources

_DEFINITIONS = "CustomResourceDefinition"


def add_texts(resources: Resources, texts: dict[str, str], specs: list[FieldSpec]) -> None:
    """Labels or annotations."""
    for resource in resources:
        for key in sorted(texts):
            for spec in specs:
                change(resource, spec, partial(_put, key=key, text=texts[key]), new=dict)


def _put(value: Any, *, key: str, text: str) -> Any:
    if value is None:
        value = {}
    if not isinstance(value, dict):
        raise BuildError("wrong node kind: expected MappingNode but was ScalarNode")
    value[key] = text
    return value


def label_fields(entry: dict[str, Any], common: list[FieldSpec], templates: list[FieldSpec]) -> list[FieldSpec]:
    """The fields of an entry of `labels`."""
    specs = [FieldSpec.read(spec) for spec in entry.get("fields") or ()]
    if entry.get("includeSelectors"):
        return merged(specs, common)
    if entry.get("includeTemplates"):
        specs = merged(specs, templates)
    return merged(specs, builtin_fields.METADATA_LABELS)


def set_images(resources: Resources, image: dict[str, Any], specs: list[FieldSpec]) -> None:
    for resource in resources:
        if resource.kind == _DEFINITIONS:
            continue
        _everywhere(resource.obj, image)
        for spec in specs:
            change(resource, spec, lambda value: _image(value, image) if isinstance(value, str) else value)


def _everywhere(node: Any, image: dict[str, Any]) -> None:
    """The containers at any depth, which is how images were found before there were field specs."""
    if isinstance(node, list):
        for item in node:
            _everywhere(item, image)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in ("containers", "initContainers") and isinstance(value, list):
                for container in value:
                    if isinstance(container, dict) and isinstance(container.get("image"), str):
                        container["image"] = _image(container["image"], image)
            else:
                _everywhere(value, image)


def _image(value: str, image: dict[str, Any]) -> str:
    wanted = str(image.get("name") or "")
    try:
        fits = re.match(rf"^{wanted}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$", value)
    except re.error:
        fits = None
    if fits is None:
        return value
    name, tag, digest = _parts(value)
    name = str(image.get("newName") or name)
    new_tag, new_digest = str(image.get("newTag") or ""), str(image.get("digest") or "")
    if new_tag or new_digest:
        tag, digest = new_tag, new_digest
    suffix = str(image.get("tagSuffix") or "")
    if suffix:
        tag, digest = f"{tag}{suffix}", ""
    return name + (f":{tag}" if tag else "") + (f"@{digest}" if digest else "")


def _parts(image: str) -> tuple[str, str, str]:
    """Name, tag and digest; the colon of a port is none before a tag."""
    rest, _, digest = image.partition("@")
    slash = rest.rfind("/")
    colon = rest.find(":", slash + 1)
    return (rest, "", digest) if colon < 0 else (rest[:colon], rest[colon + 1 :], digest)


def set_replicas(resources: Resources, entry: dict[str, Any], specs: list[FieldSpec]) -> None:
    name, count = str(entry.get("name") or ""), entry.get("count") or 0
    found = False
    for spec in specs:
        wanted = Id(spec.gvk, name)
        for resource in resources:
            if any(known.name == name and known.gvk.selected_by(wanted.gvk) for known in resource.ids):
                found = True
                change(resource, FieldSpec(spec.path, Gvk(), spec.create), lambda _: count, new=int)
    if not found:
        kinds = [str(spec.gvk) for spec in specs]
        raise BuildError(
            f"resource with name {name} does not match a config with the following GVK [{' '.join(kinds)}]"
        )
