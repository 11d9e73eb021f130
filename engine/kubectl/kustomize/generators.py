"""`configMapGenerator` and `secretGenerator`: objects made of literals, files and environment files.

Source of the behaviour: kustomize api/internal/generators, api/kv/kv.go and api/types (generatoroptions.go).
"""

from __future__ import annotations

import base64
from typing import Any

from engine.kubectl.kustomize.errors import BuildError, within
from engine.kubectl.kustomize.loader import Loader
from engine.kubectl.kustomize.resource import Resource

_LINE = 70
_BOM = b"\xef\xbb\xbf"


def generate(loader: Loader, kind: str, entry: dict[str, Any], general: dict[str, Any]) -> Resource:
    """The resource of one entry; `general` are the kustomization's `generatorOptions`."""
    options = _options(entry.get("options") or {}, general)
    name = str(entry.get("name") or "")
    if not name:
        raise BuildError("a configmap must have a name" if kind == "ConfigMap" else "a secret must have a name")
    metadata: dict[str, Any] = {"name": name}
    obj: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    if kind == "Secret":
        obj["type"] = str(entry.get("type") or "Opaque")
    if entry.get("namespace"):
        metadata["namespace"] = entry["namespace"]
    data = _data(loader, kind, entry)
    if kind == "Secret":
        obj["data"] = {key: lines_of_base64(data[key]) for key in sorted(data)}
    else:
        texts = {key: text for key, value in data.items() if (text := _text(value)) is not None}
        _fill(obj, "data", texts)
        _fill(obj, "binaryData", {key: lines_of_base64(data[key]) for key in data if key not in texts})
    for field in ("labels", "annotations"):
        if options[field]:
            metadata[field] = options[field]
    if options["immutable"]:
        obj["immutable"] = True
    behavior = str(entry.get("behavior") or "")
    known = behavior if behavior in ("create", "replace", "merge") else "unspecified"
    return Resource(obj, behavior=known, hashed=not options["disableNameSuffixHash"])


def _fill(obj: dict[str, Any], field: str, values: dict[str, str]) -> None:
    if values:
        obj[field] = {key: values[key] for key in sorted(values)}


def _options(own: dict[str, Any], general: dict[str, Any]) -> dict[str, Any]:
    """The options of an entry over those of all."""
    merged: dict[str, Any] = {
        field: {**(general.get(field) or {}), **(own.get(field) or {})} for field in ("labels", "annotations")
    }
    for field in ("disableNameSuffixHash", "immutable"):
        merged[field] = bool(own.get(field)) or bool(general.get(field))
    return merged


def _data(loader: Loader, kind: str, entry: dict[str, Any]) -> dict[str, bytes]:
    envs = [*(entry.get("envs") or ()), *([entry["env"]] if entry.get("env") else ())]
    literals, files = list(entry.get("literals") or ()), list(entry.get("files") or ())
    pairs: list[tuple[str, bytes]] = []
    with within("loading KV pairs"), within(f"env source files: [{' '.join(envs)}]"):
        for path in envs:
            pairs += _variables(loader.read(path))
    with within("loading KV pairs"), within(f"literal sources [{' '.join(literals)}]"):
        pairs += [_literal(source) for source in literals]
    with within("loading KV pairs"), within(f"file sources: [{' '.join(files)}]"):
        pairs += [_file(loader, source) for source in files]
    data: dict[str, bytes] = {}
    for key, value in pairs:
        if key in data:
            raise BuildError(f"{kind.lower()} {entry['name']} illegally repeats the key `{key}`")
        data[key] = value
    return data


def _variables(content: bytes) -> list[tuple[str, bytes]]:
    found = []
    for number, raw in enumerate(content.split(b"\n")):
        line_bytes = raw.removesuffix(b"\r")
        try:
            line = (line_bytes.removeprefix(_BOM) if number == 0 else line_bytes).decode().lstrip()
        except UnicodeDecodeError as error:
            shown = " ".join(str(byte) for byte in line_bytes)
            raise BuildError(
                f"line [{shown}] has invalid utf8 bytes : {line_bytes.decode(errors='replace')}"
            ) from error
        if not line or line.startswith("#"):
            continue
        key, _, value = line.partition("=")
        found.append((key, value.encode()))
    return found


def _literal(source: str) -> tuple[str, bytes]:
    key, equals, value = source.partition("=")
    if not key or not equals:
        raise BuildError(f"invalid literal source {source}, expected key=value")
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return key, value.encode()


def _file(loader: Loader, source: str) -> tuple[str, bytes]:
    parts = source.split("=")
    if len(parts) == 1:
        return source.rstrip("/").rpartition("/")[2], loader.read(source)
    if source.startswith("="):
        raise BuildError(f'missing key name for file path "{source[1:]}" in source "{source}"')
    if source.endswith("=") and len(parts) == 2:
        raise BuildError(f'missing file path for key name "{parts[0]}" in source "{source}"')
    if len(parts) > 2:
        raise BuildError(f"source \"{source}\" key name or file path contains '='")
    return parts[0], loader.read(parts[1])


def _text(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def lines_of_base64(value: bytes) -> str:
    """Base64; what does not fit a line of 70 is broken into such lines."""
    text = base64.b64encode(value).decode()
    if len(text) <= _LINE:
        return text
    return "".join(f"{text[start : start + _LINE]}\n" for start in range(0, len(text), _LINE))
