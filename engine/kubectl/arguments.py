"""The arguments of a command as types and names: `TYPE NAME...`, `TYPE/NAME...` (hop 01).

Source of the behaviour: cli-runtime pkg/resource/builder.go (ResourceTypeOrNameArgs) and kubectl
pkg/cmd/util/helpers.go, error texts included.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.kubectl.errors import CommandError


def split_arguments(arguments: Sequence[str], program: str) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """(type, name) pairs of the TYPE/NAME form, else the types and the names. Raises CommandError."""
    words = list(arguments)
    if len(words) >= 2 and len(kinds := list(dict.fromkeys(words[0].split(",")))) > 1 and "/" not in words[0]:
        words = [f"{kind}/{name}" for kind in kinds for name in words[1:]]
    slashes = sum("/" in word for word in words)
    if slashes and slashes != len(words):
        raise CommandError(
            "there is no need to specify a resource type as a separate argument when passing arguments in "
            f"resource/name form (e.g. '{program} get resource/<resource_name>' instead of "
            f"'{program} get resource resource/<resource_name>'"
        )
    if slashes:
        return [_pair(word) for word in words], [], []
    return [], list(dict.fromkeys(words[0].split(","))) if words else [], words[1:]


def split_changes(arguments: Sequence[str], noun: str) -> tuple[list[str], list[str]]:
    """The resources and the KEY=VALUE or KEY- words after them (GetResourcesAndPairs). Raises CommandError."""
    resources: list[str] = []
    changes: list[str] = []
    for word in arguments:
        if ("=" in word and not word.startswith("=")) or (word.endswith("-") and word != "-"):
            changes.append(word)
        elif changes:
            raise CommandError("all resources must be specified before " + f"{noun} changes: {word}")
        else:
            resources.append(word)
    return resources, changes


def _pair(word: str) -> tuple[str, str]:
    parts = word.split("/")
    if len(parts) != 2:
        raise CommandError("arguments in resource/name form may not have more than one slash")
    if not parts[0] or not parts[1] or "," in parts[0]:
        raise CommandError("arguments in resource/name form must have a single resource and name")
    return parts[0], parts[1]
