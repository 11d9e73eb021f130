"""What a line after `:` can go on with: screens, kubectl's verbs and flags, kinds, names of objects, files.

What only the server knows comes from a `Source`; the rest is here.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from engine.kubectl.command import Command
from ktui.models import flag_values, own_commands
from ktui.models.routes import EXPORTS

FILE_FLAGS = frozenset({"-f", "--filename", "-k", "--kustomize"})
NAMESPACE_FLAGS = frozenset({"-n", "--namespace"})
SPEEDS = ("0.1", "0.5", "1", "2", "10", "100")
OWN_WORDS = (
    "theme",
    "ns",
    "aliases",
    "pulses",
    "xray",
    "tour",
    "export",
    "split",
    "only",
    "forwards",
    "up",
    "q",
    "pause",
    "resume",
    "step",
    "speed",
)
OF_PODS = frozenset({"logs", "exec", "attach", "port-forward", "cp", "debug"})
OF_NODES = frozenset({"cordon", "uncordon", "drain"})


class Source(Protocol):
    async def kinds(self) -> list[str]: ...

    async def names(self, kind: str, namespace: str) -> list[str]: ...

    async def containers(self, pod: str, namespace: str) -> list[str]: ...


async def complete(
    text: str, *, root: Command, screens: Iterable[str], themes: Iterable[str], source: Source
) -> list[str]:
    """The words that the last word of the line may be, sorted; the last word is "" behind a space."""
    *before, last = text.split(" ")
    words = [word for word in before if word]
    if words and words[0] in ("kubectl", "k", "ktui"):
        words = words[1:]
    found = await _candidates(words, last, root, screens, themes, source)
    return sorted({word for word in found if word.startswith(last)})


async def _candidates(
    words: list[str], last: str, root: Command, screens: Iterable[str], themes: Iterable[str], source: Source
) -> Iterable[str]:
    if not words:
        verbs = [child.name for child in root.children if not child.hidden]
        return [*screens, *OWN_WORDS, *own_commands.NAMES, *verbs, *await source.kinds()]
    if words[0] == "theme":
        return themes
    if words[0] == "split":
        return screens if len(words) == 1 else ()
    if words[0] == "xray":
        return await source.kinds() if len(words) == 1 else await source.names("namespaces", "")
    if words[0] == "speed":
        return SPEEDS if len(words) == 1 else ()
    if words[0] == "export":
        return EXPORTS if len(words) == 1 else files(last)
    if words[0] == "ns" or words[-1] in NAMESPACE_FLAGS:
        return await source.names("namespaces", "")
    if words[-1] in FILE_FLAGS:
        return files(last)
    if own_commands.is_own(words):
        return await _own(words, last, source)
    command, arguments = _descend(root, words)
    if command is None:
        return await source.names("namespaces", "") if len(words) == 1 else ()
    if last.startswith("-"):
        return flag_values.joined(command, last, words[0]) or [f"--{flag.name}" for flag in command.flags]
    if (flag := flag_values.awaited(command, words[-1])) is not None:
        if flag.name == flag_values.CONTAINER:
            return await source.containers(_pod(arguments), _namespace(words))
        return flag_values.values_of(flag, words[0])
    if command.children:
        return [child.name for child in command.children]
    return await _objects(words[0], arguments, last, _namespace(words), source)


def _descend(root: Command, words: list[str]) -> tuple[Command | None, list[str]]:
    """The command that the words name, and its arguments so far."""
    command: Command | None = root
    for index, word in enumerate(words):
        child = command.whole().child(word) if command is not None else None
        if child is None:
            return (command if command is not root else None), words[index:]
        command = child.whole()
    return command, []


async def _own(words: list[str], last: str, source: Source) -> Iterable[str]:
    if last.startswith("-"):
        return own_commands.flags_of(words)
    if words[0] not in own_commands.OF_OBJECTS:
        return own_commands.words_after(words)
    kind, slash, _ = last.partition("/")
    found = await source.names(kind, _namespace(words)) if slash else await source.kinds()
    return [f"{kind}/{name}" for name in found] if slash else [f"{name}/" for name in found]


async def _objects(verb: str, arguments: list[str], last: str, namespace: str, source: Source) -> list[str]:
    given = [word for word in arguments if not word.startswith("-")]
    if verb in OF_PODS and not given:
        return await source.names("pods", namespace)
    if verb in OF_NODES and not given:
        return await source.names("nodes", "")
    kind, slash, _ = last.partition("/")
    if slash:
        return [f"{kind}/{name}" for name in await source.names(kind, namespace)]
    if not given:
        return await source.kinds()
    return [] if "/" in given[0] else await source.names(given[0], namespace)


def _pod(arguments: list[str]) -> str:
    """The one that the arguments name, be it as `pod/web` or without the kind; "" for none."""
    named = next((word for word in arguments if not word.startswith("-")), "")
    kind, slash, name = named.partition("/")
    return (name if kind in ("po", "pod", "pods") else "") if slash else named


def _namespace(words: list[str]) -> str:
    for flag, value in pairwise(words):
        if flag in NAMESPACE_FLAGS:
            return value
    return next((word.partition("=")[2] for word in words if word.startswith(("--namespace=", "-n="))), "")


def files(typed: str) -> list[str]:
    """Paths that begin with what is typed; folders with a slash, so that one can go on."""
    folder, _, name = typed.rpartition("/")
    place = Path(os.path.expanduser(f"{folder}/" if folder or typed.startswith("/") else "."))
    head = typed[: len(typed) - len(name)]
    try:
        found = sorted(place.iterdir())
    except OSError:
        return []
    shown = [entry for entry in found if name.startswith(".") or not entry.name.startswith(".")]
    return [f"{head}{entry.name}{'/' if entry.is_dir() else ''}" for entry in shown]


def common(words: list[str]) -> str:
    """What all of them begin with."""
    first, last = min(words), max(words)
    length = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[:length]
