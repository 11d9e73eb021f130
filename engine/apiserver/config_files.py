"""Files in which a server is configured, of the group apiserver.config.k8s.io: decoded strictly, in Go's words
(apimachinery serializer/json, serializer.EnableStrict)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.api.golang.forms import Struct, UnmarshalError, check, type_meta
from engine.api.golang.yaml import YamlError, load
from engine.api.types import Object
from engine.api.yaml_text import CONVERTING, twice_in_yaml, unmarshal_errors

GROUP = "apiserver.config.k8s.io"
_VERSIONS = ("v1", "v1beta1", "v1alpha1")


class ConfigFileError(Exception):
    """A file that no server starts with; the message says why."""


def stamp_of(file: Path) -> tuple[int, int]:
    """What changes with a file's content: its time and size; (-1, -1) where it cannot be looked at."""
    try:
        found = file.stat()
    except OSError:
        return -1, -1
    return found.st_mtime_ns, found.st_size


def decoded(text: bytes, kind: str, form: Struct, *, scheme: str, versions: Sequence[str] = _VERSIONS) -> Object:
    """The document of a kind and form. Raises ConfigFileError."""
    try:
        value = load(text)
        found, version = type_meta(value)
        if not found or not version:
            missing = "Kind" if not found else "apiVersion"
            raise ConfigFileError(f"Object '{missing}' is missing in '{text.decode(errors='replace')}'")
        if found != kind or version not in (f"{GROUP}/{each}" for each in versions):
            raise ConfigFileError(f'no kind "{found}" is registered for version "{version}" in scheme "{scheme}"')
        unknown = check(value, form)
    except YamlError as error:
        raise ConfigFileError(f"{CONVERTING}{error}") from error
    except UnmarshalError as error:
        raise ConfigFileError(str(error)) from error
    twice = twice_in_yaml(text)
    strict = [*([unmarshal_errors(twice)] if twice else ()), *(f'unknown field "{path}"' for path in unknown)]
    if strict:
        raise ConfigFileError(f"strict decoding error: {', '.join(strict)}")
    document: Object = value
    return document
