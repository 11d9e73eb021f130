"""Functions and their overloads, as the checker and the interpreter look them up (cel-go common/decls)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.api.cel.types import Type


@dataclass(frozen=True, slots=True)
class Overload:
    """`run` takes the values of the parameters, that of the target first."""

    identity: str
    params: tuple[Type, ...]
    result: Type
    run: Callable[..., Any]
    member: bool = False


@dataclass(slots=True)
class Function:
    name: str
    overloads: list[Overload] = field(default_factory=list)


class Library:
    """A set of functions, written down one overload at a time."""

    def __init__(self) -> None:
        self.functions: dict[str, Function] = {}

    def add(
        self, name: str, params: Iterable[Type], result: Type, run: Callable[..., Any], *, identity: str = ""
    ) -> None:
        self._put(name, Overload(identity or f"{name}_{self._number(name)}", tuple(params), result, run))

    def member(
        self, name: str, params: Iterable[Type], result: Type, run: Callable[..., Any], *, identity: str = ""
    ) -> None:
        self._put(name, Overload(identity or f"{name}_{self._number(name)}", tuple(params), result, run, member=True))

    def _number(self, name: str) -> int:
        return len(self.functions[name].overloads) if name in self.functions else 0

    def _put(self, name: str, overload: Overload) -> None:
        self.functions.setdefault(name, Function(name)).overloads.append(overload)


def joined(*libraries: Library) -> Mapping[str, Function]:
    """The functions of several libraries, which may add overloads to each other's."""
    found: dict[str, Function] = {}
    for library in libraries:
        for name, function in library.functions.items():
            found.setdefault(name, Function(name)).overloads.extend(function.overloads)
    return found
