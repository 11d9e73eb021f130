"""The hashes that generated ConfigMaps and Secrets carry in their names (kustomize api/hasher)."""

from __future__ import annotations

import hashlib
from typing import Any

from engine.api.golang.json import written
from engine.kubectl.kustomize.resources import Resources

# So that no hash spells a word, and none looks like a number.
_SAFE = str.maketrans("013ae", "ghkmt")
_LENGTH = 10


def add_hashes(resources: Resources) -> None:
    for resource in resources:
        if resource.needs_hash:
            text = hash_of(resource.obj)
            resource.remember()
            resource.name = f"{resource.name}-{text}"


def hash_of(obj: dict[str, Any]) -> str:
    kind = obj.get("kind")
    # Upstream looks the name up where none is, so that no hash depends on it.
    hashed: dict[str, Any] = {"kind": kind, "name": "", "data": obj.get("data", "")}
    if kind == "Secret":
        hashed["type"] = obj.get("type", "")
    for field in ("binaryData", "stringData"):
        if isinstance(obj.get(field), dict) and (field == "stringData") == (kind == "Secret"):
            hashed[field] = obj[field]
    return hashlib.sha256(written(hashed).encode()).hexdigest()[:_LENGTH].translate(_SAFE)
