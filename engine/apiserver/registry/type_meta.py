"""The first look at a body: of which version and kind is it? A value that cannot say is not decoded at all.

Source: apimachinery pkg/runtime/serializer/json/meta.go (SimpleMetaFactory.Interpret).
"""

from __future__ import annotations

from typing import Any

from engine.api.decoders import json_type

_STRUCT = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'
_FIELDS = ("apiVersion", "kind")


def cannot_say(value: Any) -> str:
    """Why a JSON value does not tell its version and kind, in the words of Go's decoder; empty for one that could."""
    if type(value) is dict and _is_text(value.get("apiVersion")) and _is_text(value.get("kind")):
        return _no_version(value.get("apiVersion") or "")
    if value is None:
        return ""
    if not isinstance(value, dict):
        return _unfit(value, f"value of type {_STRUCT}")
    for name, given in value.items():
        if name in _FIELDS and not _is_text(given):
            return _unfit(given, f"struct field .{name} of type string")
    return ""


def _no_version(text: str) -> str:
    """Of a group and its version (apimachinery pkg/runtime/schema, ParseGroupVersion)."""
    return f"unexpected GroupVersion string: {text}" if text.count("/") > 1 else ""


def _unfit(value: Any, into: str) -> str:
    return f"couldn't get version/kind; json parse error: json: cannot unmarshal {json_type(value, '')} into Go {into}"


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)
