"""What all checks share: a Pod's containers, and how many things are named in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from engine.api.types import Object


class Finding(NamedTuple):
    reason: str
    detail: str = ""


def containers(spec: Object) -> Iterator[Object]:
    for field in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(field) or ()


def context(obj: Object) -> dict[str, Any]:
    """The security context of a container or of a Pod's spec."""
    found: dict[str, Any] = obj.get("securityContext") or {}
    return found


def quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def joined(words: Sequence[str]) -> str:
    """Words in quotation marks, which stand as they are (joinQuote)."""
    return '"' + '", "'.join(words) + '"'


def plural(word: str, names: Sequence[Any]) -> str:
    return word if len(names) == 1 else f"{word}s"


def named(word: str, names: Sequence[str]) -> str:
    """`container "a"`, `containers "a", "b"`."""
    return f"{plural(word, names)} {quoted(names)}"


def has_own_users(spec: Object) -> bool:
    """Whether root in the Pod is nobody on its node: from 1.35 on some checks ask less of it (KEP-127)."""
    return spec.get("hostUsers") is False


def is_windows(spec: Object) -> bool:
    return (spec.get("os") or {}).get("name") == "windows"
