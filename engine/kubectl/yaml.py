"""YAML the way kubectl reads and writes it."""

from __future__ import annotations

from engine.api.golang.yaml import YamlError, load, resolve
from engine.api.golang.yaml_writer import dump, float_text, sorted_keys

__all__ = ["YamlError", "dump", "float_text", "load", "resolve", "sorted_keys"]
