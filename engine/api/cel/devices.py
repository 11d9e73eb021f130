"""The expressions that select devices: what they know of a device, and what they may cost.

Source: dynamic-resource-allocation/cel/compile.go. A domain that a device has nothing of is an empty map.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from engine.api.cel.costs import Path
from engine.api.cel.environment import Environment, Program
from engine.api.cel.interpreter import Outcome
from engine.api.cel.library.quantities import QUANTITY
from engine.api.cel.releases import Release
from engine.api.cel.syntax import CompileError
from engine.api.cel.types import ANY, BOOL, DYN, STRING, Type, map_of, struct

COST_LIMIT = 1_000_000
_SHARED_SINCE = (1, 36)  # when DRAConsumableCapacity came to be on
DEVICE = struct("kubernetes.DRADevice")
_FIELDS = {
    "driver": STRING,
    "attributes": map_of(STRING, map_of(STRING, ANY)),
    "capacity": map_of(STRING, map_of(STRING, QUANTITY)),
    "allowMultipleAllocations": BOOL,
}
_DOMAIN, _NAME, _TEXT, _PER_DEVICE = 63, 32, 64, 32  # the most letters of each, and the most attributes
_SIZES = {"driver": (_DOMAIN,), "attributes": (_PER_DEVICE, _PER_DEVICE, _TEXT), "capacity": (_PER_DEVICE, _PER_DEVICE)}


class Domains(dict[str, Any]):
    """What a device has, by domain."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> dict[str, Any]:
        return {}

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self.keys():
            self[key] = default
        return self[key]


@lru_cache(maxsize=4)
def _environment(release: Release | None) -> Environment:
    fields = dict(_FIELDS)
    if release is not None and release < _SHARED_SINCE:
        del fields["allowMultipleAllocations"]
    return Environment({"device": DEVICE}, structs={DEVICE.name: fields}, binding=True, release=release)


@lru_cache(maxsize=1024)
def compiled(expression: str, wanted: tuple[Type, ...] = (BOOL, ANY, DYN), release: Release | None = None) -> Program:
    """`release` is the one in which the expression is new. Raises CompileError."""
    program = _environment(release).compile(expression)
    if program.result not in wanted:
        raise CompileError(f"must evaluate to bool or the unknown type, not {program.result}")
    return program


def cost(program: Program) -> int:
    return program.estimate(_size_at).most


def _size_at(path: Path) -> int | None:
    if len(path) < 2 or path[0] != "device":
        return None
    sizes = _SIZES.get(path[1])
    depth = len(path) - 2
    if sizes is None:
        return None
    if path[-1] == "@keys":
        return _DOMAIN if depth == 1 else _NAME
    return sizes[depth] if depth < len(sizes) else None


def run(program: Program, device: Mapping[str, Any]) -> Outcome:
    return program.run({"device": device}, limit=COST_LIMIT)
