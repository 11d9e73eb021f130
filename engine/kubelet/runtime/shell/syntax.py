"""The syntax tree of a script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from engine.kubelet.runtime.shell.lexer import Word


class Redirect(NamedTuple):
    """`fd` 3 stands for both standard streams; `target` is a file, or a descriptor's number after `>&`."""

    fd: int
    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Simple:
    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    arrays: tuple[tuple[str, tuple[Word, ...]], ...] = ()  # NAME=(WORD...), of bash


@dataclass(frozen=True, slots=True)
class If:
    branches: tuple[tuple[Script, Script], ...]
    otherwise: Script | None


@dataclass(frozen=True, slots=True)
class Loop:
    condition: Script
    body: Script
    until: bool


@dataclass(frozen=True, slots=True)
class For:
    variable: str
    words: tuple[Word, ...] | None  # None goes over the positional parameters
    body: Script


@dataclass(frozen=True, slots=True)
class Case:
    word: Word
    clauses: tuple[tuple[tuple[Word, ...], Script], ...]


@dataclass(frozen=True, slots=True)
class Group:
    body: Script
    subshell: bool


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    body: Command


@dataclass(frozen=True, slots=True)
class Redirected:
    """A compound command with redirections behind it."""

    command: Command
    redirects: tuple[Redirect, ...]


Command = Simple | If | Loop | For | Case | Group | Function | Redirected


class Pipeline(NamedTuple):
    commands: tuple[Command, ...]
    negated: bool


class AndOr(NamedTuple):
    """Pipelines with the operator that stands before each (`""`, `&&` or `||`)."""

    links: tuple[tuple[str, Pipeline], ...]
    background: bool


Script = tuple[AndOr, ...]
