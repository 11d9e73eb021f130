"""YAML in requests, as JSON (engine.api.golang.yaml has how it is read)."""

from __future__ import annotations

from typing import Any

from engine.api.golang.yaml import YamlError, load
from engine.api.yaml_text import CONVERTING, twice_in_yaml, unmarshal_errors
from engine.apiserver.broken_body import BrokenBody

__all__ = ["CONVERTING", "read_yaml", "twice_in_yaml", "unmarshal_errors"]


def read_yaml(text: bytes) -> Any:
    """The JSON value of a YAML document. Raises BrokenBody."""
    try:
        return load(text)
    except YamlError as error:
        raise BrokenBody(str(error)) from None
