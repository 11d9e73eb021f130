"""The hash that `--append-hash` adds to the name of a ConfigMap or Secret (kubectl pkg/util/hash)."""

from __future__ import annotations

import hashlib

from engine.api.types import Object
from engine.kubectl.last_applied import compact

# So that no hash spells a word, and none looks like a number.
_SAFE = str.maketrans("013ae", "ghkmt")
_LENGTH = 10


def with_hash(obj: Object) -> Object:
    """The object under its name with the hash of its content."""
    metadata = obj["metadata"]
    return {**obj, "metadata": {**metadata, "name": f"{metadata['name']}-{_hash(obj)}"}}


def _hash(obj: Object) -> str:
    kind = obj["kind"]
    hashed: Object = {"data": obj.get("data") or {}, "kind": kind, "name": obj["metadata"]["name"]}
    if kind == "Secret":
        hashed["type"] = obj.get("type", "")
    if obj.get("binaryData"):
        hashed["binaryData"] = obj["binaryData"]
    return hashlib.sha256(compact(hashed).encode()).hexdigest()[:_LENGTH].translate(_SAFE)
