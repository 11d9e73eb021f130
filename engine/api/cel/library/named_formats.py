"""Formats of strings by name (pkg/cel/library/format.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from engine.api.cel.call_costs import LONGEST_PATTERN
from engine.api.cel.functions import Library
from engine.api.cel.library.addresses import request_url
from engine.api.cel.types import STRING, STRINGS, opaque, optional_of
from engine.api.cel.values import NONE, EvaluationError, Opaque, Optional
from engine.api.crd import formats
from engine.api.validation import text as names

FORMAT = opaque("kubernetes.NamedFormat")


@dataclass(frozen=True, slots=True)
class NamedFormat(Opaque):
    cel_type = FORMAT
    name: str

    @property
    def pattern_size(self) -> int:
        """Of the pattern that the format stands for, which is what a check of it costs by."""
        return _PATTERN_SIZES.get(self.name, LONGEST_PATTERN)


def _fits(name: str, words: str) -> Callable[[str], Iterable[str]]:
    return lambda text: () if formats.fits(name, text) else (words,)


def _wrong_uri(text: str) -> Iterable[str]:
    try:
        request_url(text)
    except EvaluationError as error:
        return (str(error).removeprefix("URL parse error during conversion from string: "),)
    return ()


_CHECKS: dict[str, Callable[[str], Iterable[str]]] = {
    "dns1123Label": names.dns_label,
    "dns1123Subdomain": names.dns_subdomain,
    "dns1035Label": names.dns_1035_label,
    "qualifiedName": names.qualified_name,
    "dns1123LabelPrefix": lambda text: names.dns_label(names.unmasked(text)),
    "dns1123SubdomainPrefix": lambda text: names.dns_subdomain(names.unmasked(text)),
    "dns1035LabelPrefix": lambda text: names.dns_1035_label(names.unmasked(text)),
    "labelValue": names.label_value,
    "uri": _wrong_uri,
    "uuid": _fits("uuid", "does not match the UUID format"),
    "byte": _fits("byte", "invalid base64"),
    "date": _fits("date", "invalid date"),
    "datetime": _fits("datetime", "invalid datetime"),
}


_PATTERN_SIZES = {
    **dict.fromkeys(("dns1123Label", "dns1123LabelPrefix", "dns1035Label", "dns1035LabelPrefix"), 30),
    **dict.fromkeys(("dns1123Subdomain", "dns1123SubdomainPrefix", "qualifiedName"), 60),
    "labelValue": 40,
    "uri": 1103,
    "uuid": 70,
    "byte": 84,
    **dict.fromkeys(("date", "datetime"), 71),
}


def named_formats() -> Library:
    made = Library()
    for name in _CHECKS:
        made.add(f"format.{name}", (), FORMAT, lambda name=name: NamedFormat(name))
    made.add("format.named", (STRING,), optional_of(FORMAT), _named, identity="format-named")
    made.member("validate", (FORMAT, STRING), optional_of(STRINGS), _validated, identity="format-validate")
    return made


def _named(name: str) -> Optional:
    return Optional(True, NamedFormat(name)) if name in _CHECKS else NONE


def _validated(value: NamedFormat, text: str) -> Optional:
    found = list(_CHECKS[value.name](text))
    return Optional(True, found) if found else NONE
