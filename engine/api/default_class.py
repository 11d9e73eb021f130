"""Which class is the default one of several that are marked as such (component-helpers storage/volume GetDefaultClass;
plugin/pkg/admission/network/defaultingressclass)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.types import Object

STORAGE = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
INGRESS = ("ingressclass.kubernetes.io/is-default-class",)


def default_storage_class(classes: Iterable[Object]) -> Object | None:
    return newest(marked(classes, STORAGE))


def marked(classes: Iterable[Object], annotations: Iterable[str]) -> list[Object]:
    """The classes that are marked as default with one of the annotations."""
    return [each for each in classes if any(_is_true(each, annotation) for annotation in annotations)]


def newest(classes: list[Object]) -> Object | None:
    """Of one moment the first by name."""
    by_name = sorted(classes, key=lambda each: str(each["metadata"]["name"]))
    by_age = sorted(by_name, key=lambda each: str(each["metadata"].get("creationTimestamp", "")), reverse=True)
    return by_age[0] if by_age else None


def _is_true(obj: Object, annotation: str) -> bool:
    return (obj["metadata"].get("annotations") or {}).get(annotation) == "true"
