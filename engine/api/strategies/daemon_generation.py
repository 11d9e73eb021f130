"""How often a DaemonSet's template has changed, which apps/v1 keeps in an annotation.

Sources: pkg/apis/apps/v1/conversion.go (the field of older versions is the annotation in v1, and always there),
pkg/registry/apps/daemonset/strategy.go (it is the server's to count).
"""

from __future__ import annotations

from engine.api.golang.integer import parse_int
from engine.api.types import Object

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def fill_template_generation(obj: Object) -> None:
    _set(obj, _get(obj))


def first_template_generation(obj: Object) -> None:
    _set(obj, max(_get(obj), 1))


def count_template_generation(new: Object, old: Object) -> None:
    changed = new.get("spec", {}).get("template") != old.get("spec", {}).get("template")
    _set(new, _get(old) + int(changed))


def _get(obj: Object) -> int:
    text = ((obj.get("metadata") or {}).get("annotations") or {}).get(TEMPLATE_GENERATION, "0")
    try:
        return parse_int(text)
    except ValueError:
        return 0


def _set(obj: Object, generation: int) -> None:
    metadata = obj.setdefault("metadata", {})
    metadata["annotations"] = {**(metadata.get("annotations") or {}), TEMPLATE_GENERATION: str(generation)}
