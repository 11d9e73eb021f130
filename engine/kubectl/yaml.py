"""YAML the way kubectl reads and writes it."""

from __future__ import annotations

import json
import re
from typing import Any

from engine.api.golang import yaml_writer
from engine.api.golang.json import escaped_text
from engine.api.golang.yaml import YamlError, load, resolve
from engine.api.golang.yaml_writer import float_text, sorted_keys
from engine.kubectl.errors import CommandError

__all__ = ["YamlError", "dump", "float_text", "load", "read_back", "resolve", "sorted_keys"]

# What YAML's reader does not take, and a line's end that JSON's writer leaves as it is.
_NOT_READ = re.compile("[\x7f-\x9f\ufffe\uffff]")


def dump(value: Any) -> str:
    """Raises CommandError for what cannot be read back."""
    return yaml_writer.dump(read_back(value))


def read_back(value: Any) -> Any:
    """What is printed of a value: kubectl makes JSON of it and reads that as YAML, which knows more ends of lines and
    refuses control characters. Raises CommandError."""
    text = escaped_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    if _NOT_READ.search(text) is None:
        return value
    try:
        return load(text)
    except YamlError as error:
        raise CommandError(str(error)) from error
