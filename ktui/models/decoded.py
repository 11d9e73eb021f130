"""A Secret's values as they were before they were encoded, as k9s shows them."""

from __future__ import annotations

import base64

import yaml

from engine.api.types import Object


def decoded(secret: Object) -> str:
    """The data as YAML; a value that is no text as its length."""
    values = {name: _text(value) for name, value in (secret.get("data") or {}).items()}
    return yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True) if values else "no data\n"


class _Dumper(yaml.SafeDumper):
    """Several lines as several lines."""


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent)


def _text(value: str) -> str:
    data = base64.b64decode(value)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"({len(data)} bytes that are no text)"
