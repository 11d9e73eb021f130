"""Which keys of the store meet a filter: what their names contain, and the labels of the objects in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from engine.api.selectors import EVERYTHING, LabelSelector
from engine.api.wire import Request
from engine.store.types import KeyValue


@dataclass(frozen=True, slots=True)
class SoughtKeys:
    """`words` are all in the key's name, whatever their case; one that begins with `!` is not. `labels` are those of
    the stored object: what holds none meets only a selector of everything.
    """

    words: tuple[str, ...] = ()
    labels: LabelSelector = EVERYTHING

    @classmethod
    def of(cls, request: Request) -> SoughtKeys:
        """By its parameters `contains` (any number) and `labelSelector`. Raises ApiError 400."""
        words = tuple(word.lower() for word in request.query.get("contains", ()))
        return cls(words, LabelSelector.parse(request.parameter("labelSelector")))

    @property
    def are_all(self) -> bool:
        return not self.words and self.labels.empty

    def have(self, kv: KeyValue) -> bool:
        name = kv.key.decode(errors="replace").lower()
        return all(_has(name, word) for word in self.words) and (
            self.labels.empty or ((labels := _labels(kv.value)) is not None and self.labels.matches(labels))
        )


def _has(name: str, word: str) -> bool:
    if word.startswith("!") and len(word) > 1:
        return word[1:] not in name
    return word in name


def _labels(value: bytes) -> dict[str, Any] | None:
    """None for what is no object of the API, such as the range of an allocator that is not JSON."""
    try:
        found = orjson.loads(value)
    except ValueError:
        return None
    metadata = found.get("metadata") if isinstance(found, dict) else None
    return (metadata.get("labels") or {}) if isinstance(metadata, dict) else None
