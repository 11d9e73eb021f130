"""The fields of Kubernetes' messages by their numbers, read from `field_numbers.txt`.

Protocol buffers name fields by them; Go's structs declare most fields in their order.
Source: the generated.proto files of k8s.io/api, k8s.io/apimachinery and k8s.io/metrics.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

_PREFIXES = (
    "io.k8s.api.",
    "io.k8s.apimachinery.pkg.apis.",
    "io.k8s.apiextensions-apiserver.pkg.apis.",
    "io.k8s.kube-aggregator.pkg.apis.",
    "io.k8s.metrics.pkg.apis.",
)


class Numbered(NamedTuple):
    """The field that a number stands for; `+MESSAGE` for an inlined message."""

    name: str
    keeps_zero: bool


@lru_cache(maxsize=1)
def field_numbers() -> dict[str, dict[int, Numbered]]:
    """The fields of every message by their numbers."""
    text = (files(__package__) / "field_numbers.txt").read_text()
    found: dict[str, dict[int, Numbered]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        message, *names = line.split()
        number = 0
        numbers = found[message] = {}
        for name in names:
            explicit, equals, rest = name.partition("=")
            number, name = (int(explicit), rest) if equals else (number + 1, name)
            numbers[number] = Numbered(name.removesuffix("?"), not name.endswith("?"))
    return found


def field_names(message: str) -> list[str]:
    """The JSON names of a message's fields in the order of their numbers; none of a message that is not known."""
    found: list[str] = []
    for _, (name, _) in sorted(field_numbers().get(message, {}).items()):
        found.extend(field_names(name[1:]) if name.startswith("+") else [name])
    return found


def message_name(definition: str) -> str:
    """The message of a definition of the published schemas."""
    for prefix in _PREFIXES:
        if definition.startswith(prefix):
            return definition.removeprefix(prefix)
    return definition
