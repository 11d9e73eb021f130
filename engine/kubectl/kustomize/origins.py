"""Where the resources of a build come from and what changed them, for `buildMetadata`.

Source of the behaviour: kustomize api/resource/origin.go and api/resmap (AddTransformerAnnotation).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.kubectl.kustomize.resource import Resource

ORIGIN = "config.kubernetes.io/origin"
CHANGES = "alpha.config.kubernetes.io/transformations"


def read_from(path: str) -> str:
    return f"path: {path}\n"


def configured(file: str, by: Mapping[str, str]) -> str:
    """Of a generator or transformer that a file configures."""
    lines = "".join(f"  {name}: {by[name]}\n" for name in ("apiVersion", "kind", "name", "namespace") if by.get(name))
    return f"configuredIn: {file}\nconfiguredBy:\n{lines}"


def note_change(resources: Iterable[Resource], origin: str) -> None:
    """That a transformer has been at work; what has no origin was made by it."""
    for resource in resources:
        if resource.origin:
            resource.changes.append(origin)
        else:
            resource.origin = origin


def annotate(resources: Iterable[Resource], options: Iterable[str]) -> None:
    """Write what is wanted into the annotations."""
    for resource in resources:
        texts = resource.texts("annotations")
        if "originAnnotations" in options and resource.origin:
            texts[ORIGIN] = resource.origin
        if "transformerAnnotations" in options and resource.changes:
            texts[CHANGES] = "".join(_item(change) for change in resource.changes)
        resource.put_texts("annotations", texts)


def _item(text: str) -> str:
    first, *others = text.splitlines(keepends=True)
    return f"- {first}" + "".join(f"  {line}" for line in others)
