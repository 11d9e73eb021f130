"""Which Pods are an object's: those that its selector takes, those on a node, those of a namespace."""

from __future__ import annotations

from engine.api.selectors import LabelSelector
from engine.api.types import Object
from ktui.models.listing import Listing


def pods_of(kind: str, obj: Object) -> Listing | None:
    """`kind` is its resource and group; None for what has no Pods."""
    metadata, spec = obj["metadata"], obj.get("spec") or {}
    if kind == "nodes":
        return Listing("", f"--field-selector spec.nodeName={metadata['name']}")
    if kind == "namespaces":
        return Listing(metadata["name"])
    selector = _selector(spec.get("selector"))
    if selector is None or selector.empty:
        return None
    return Listing(metadata.get("namespace"), f"-l {selector}")


def _selector(selector: Object | None) -> LabelSelector | None:
    """A selector of a workload's kind, or the plain labels of a Service's."""
    if not isinstance(selector, dict):
        return None
    if selector.keys() <= {"matchLabels", "matchExpressions"}:
        return LabelSelector.from_object(selector)
    return LabelSelector.from_labels(selector)
