"""The annotation in which client-side apply keeps what was applied last.

Source of the behaviour: kubectl pkg/util/apply.go.
"""

from __future__ import annotations

import json
from typing import Any

from engine.api.golang.json import escaped_text
from engine.api.types import Object, copy_object
from engine.kubectl.errors import CommandError
from engine.kubectl.printers.typed import in_order

ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def original(obj: Object) -> Object | None:
    """What was applied last to a live object; None if nothing was. Raises CommandError."""
    text = (obj.get("metadata", {}).get("annotations") or {}).get(ANNOTATION)
    if text is None:
        return None
    try:
        value = json.loads(text) if text else {}
    except json.JSONDecodeError as error:
        raise CommandError(f"the annotation {ANNOTATION} is no JSON: {error}") from error
    return value if isinstance(value, dict) else {}


def bare(obj: Object) -> Object:
    """The object without the annotation. One that is null is an empty one, as annotations are read."""
    copy = copy_object(obj)
    metadata = copy.setdefault("metadata", {})
    annotations = {
        key: "" if value is None else value
        for key, value in (metadata.get("annotations") or {}).items()
        if key != ANNOTATION
    }
    metadata["annotations"] = annotations
    return copy


def modified(obj: Object, *, typed: bool = False) -> Object:
    """The object with itself in the annotation, as it is sent.

    `typed` where kubectl holds the object as the struct of its kind: fields are in its order, and no empty ones.
    """
    sent = bare(obj)
    if typed:
        empty = {} if sent["metadata"]["annotations"] else {"annotations"}
        metadata = {key: value for key, value in sent["metadata"].items() if key not in empty}
        text = compact(in_order({**sent, "metadata": metadata}), sort_keys=False) + "\n"
    else:
        text = compact(sent) + "\n"
    sent["metadata"]["annotations"] = {**sent["metadata"]["annotations"], ANNOTATION: text}
    return sent


def without_nulls(value: Any) -> Any:
    """What is made of a manifest: a null takes its field away there as it does in a patch. Those that are elements of
    lists stay. Shares nothing that can change with `value`."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_nulls(inner) for inner in value]
    return value


def compact(value: Any, *, sort_keys: bool = True) -> str:
    """JSON as Go's encoder writes it in one line."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=sort_keys, ensure_ascii=False)
    return escaped_text(text)
