"""YAML in requests, as JSON (engine.api.golang.yaml has how it is read)."""

from __future__ import annotations

from typing import Any

from engine.api.errors import bad_request
from engine.api.golang.yaml import YamlError, load
from engine.api.yaml_text import CONVERTING, twice_in_yaml, unmarshal_errors

__all__ = ["CONVERTING", "read_yaml", "twice_in_yaml", "unmarshal_errors"]


def read_yaml(text: bytes, *, what: str = "") -> Any:
    """The JSON value of a YAML document; `what` is said before it of one that is broken. Raises ApiError 400."""
    try:
        return load(text)
    except YamlError as error:
        raise bad_request(f"{what}{CONVERTING}{error}") from None
