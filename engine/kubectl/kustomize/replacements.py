"""`replacements`: a field of one resource copied into fields of others (kustomize api/filters/replacement)."""

from __future__ import annotations

from typing import Any

from engine.api.golang.yaml import YamlError, load, resolve_v3
from engine.kubectl.kustomize import paths, structured
from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.identity import Gvk, Id
from engine.kubectl.kustomize.loader import Loader
from engine.kubectl.kustomize.paths import Place, text_of
from engine.kubectl.kustomize.resource import Resource, copied
from engine.kubectl.kustomize.resources import Resources
from engine.kubectl.kustomize.selecting import Selector

_DEFAULT_PATH = "metadata.name"


def read(loader: Loader, entries: list[Any]) -> list[dict[str, Any]]:
    """The replacements, those of files among them."""
    found: list[dict[str, Any]] = []
    for entry in entries:
        if not entry.get("path"):
            found.append(entry)
            continue
        if entry.get("source") or entry.get("targets"):
            raise BuildError("cannot specify both path and inline replacement")
        try:
            content = load(loader.read(entry["path"]))
        except YamlError as error:
            raise BuildError(str(error)) from error
        found += content if isinstance(content, list) else [content]
    return found


def apply(resources: Resources, replacements: list[dict[str, Any]]) -> None:
    for replacement in replacements:
        constant = replacement.get("sourceValue")
        if (constant is None and not replacement.get("source")) or replacement.get("targets") is None:
            raise BuildError("replacements must specify a source and at least one target")
        if constant is not None and replacement.get("source"):
            raise BuildError("value and resource selectors are mutually exclusive")
        value = str(constant) if constant is not None else _source(resources, replacement["source"])
        for target in replacement["targets"]:
            _to(resources, target, value)


def _source(resources: Resources, source: dict[str, Any]) -> Any:
    wanted = _id(source)
    path = str(source.get("fieldPath") or _DEFAULT_PATH)
    found = [r for r in resources if any(known.selected_by(wanted) for known in r.ids)]
    shown = f"{wanted}:{path}" if source.get("fieldPath") else str(wanted)
    if len(found) > 1:
        raise BuildError(f"multiple matches for selector {shown}")
    if not found:
        raise BuildError(f"nothing selected by {shown}")
    try:
        value = paths.lookup(found[0].obj, paths.split(path))
    except BuildError as error:
        raise BuildError(f"error looking up replacement source: {error}") from error
    if value is None or value in ({}, [], ""):
        raise BuildError(f"fieldPath `{path}` is missing for replacement source {wanted}")
    return _refined(value, source.get("options") or {})


def _id(value: dict[str, Any]) -> Id:
    gvk = Gvk(str(value.get("group") or ""), str(value.get("version") or ""), str(value.get("kind") or ""))
    return Id(gvk, str(value.get("name") or ""), str(value.get("namespace") or ""))


def _refined(value: Any, options: dict[str, Any]) -> Any:
    delimiter = str(options.get("delimiter") or "")
    if not delimiter:
        return value
    if isinstance(value, dict | list):
        raise BuildError("delimiter option can only be used with scalar nodes")
    parts, index = text_of(value).split(delimiter), int(options.get("index") or 0)
    if not 0 <= index < len(parts):
        raise BuildError(f"options.index {index} is out of bounds for value {text_of(value)}")
    return parts[index]


def _to(resources: Resources, target: dict[str, Any], value: Any) -> None:
    if not target.get("select"):
        raise BuildError("target must specify resources to select")
    select = Selector.read(target["select"])
    rejects = [Selector.read(reject) for reject in target.get("reject") or ()]
    for resource in resources:
        if not select.fits_texts(resource) or any(_rejected(resource, reject) for reject in rejects):
            continue
        if any(select.fits_id(known) for known in resource.ids):
            for path in target.get("fieldPaths") or [_DEFAULT_PATH]:
                _put(resource, str(path), value, target.get("options") or {})


def _rejected(resource: Resource, reject: Selector) -> bool:
    if (reject.labels or reject.annotations) and reject.fits_texts(resource):
        return True
    return reject.id != Id(Gvk()) and any(reject.fits_id(known) for known in resource.ids)


def _put(resource: Resource, path: str, value: Any, options: dict[str, Any]) -> None:
    create = (type(value) if isinstance(value, dict | list) else str) if options.get("create") else None
    steps = paths.split(path)
    if structured.put(resource.obj, steps, value, create=create):
        return
    verb = "find or create" if create is not None else "find"
    problem = f'unable to {verb} field "{path}" in replacement target'
    try:
        found = list(paths.places(resource.obj, steps, create=create))
    except BuildError as error:
        raise BuildError(f"{problem}: {error}") from error
    if not found:
        raise BuildError(problem)
    for place in found:
        _set(place, value, options, fresh=create is str)


def _set(place: Place, value: Any, options: dict[str, Any], *, fresh: bool) -> None:
    old, value = place.value, copied(value)
    if delimiter := str(options.get("delimiter") or ""):
        if isinstance(old, dict | list):
            raise BuildError("delimiter option can only be used with scalar nodes")
        parts, index = text_of(old).split(delimiter), int(options.get("index") or 0)
        if index < 0:
            parts.insert(0, text_of(value))
        elif index >= len(parts):
            parts.append(text_of(value))
        else:
            parts[index] = text_of(value)
        value = delimiter.join(parts)
    if isinstance(old, dict | list) or isinstance(value, dict | list) or old is None or (fresh and old == ""):
        place.holder[place.key] = value
    else:
        place.holder[place.key] = _as_before(old, value)


def _as_before(old: Any, value: Any) -> Any:
    """The text of a value in a field that keeps its type: a number stays one."""
    return text_of(value) if isinstance(old, str) else resolve_v3(text_of(value))
