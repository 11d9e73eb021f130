"""The names of all keys: what `keys` in the config file may set (`ktui/settings.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from textual.binding import Binding, BindingType

from ktui.screens.catalogue import CATALOGUE


def named_keys() -> dict[str, Binding]:
    """Every key that has a name, by that name; loads all screens."""
    from ktui.app import KtuiApp
    from ktui.screens.frame import FrameScreen

    classes: list[list[BindingType]] = [KtuiApp.BINDINGS, FrameScreen.BINDINGS]
    for entry in CATALOGUE:
        module, _, kind = entry.where.partition(":")
        classes.append(getattr(import_module(module), kind).BINDINGS)
    return {binding.id: binding for bindings in classes for binding in _bindings(bindings) if binding.id}


def _bindings(bindings: list[BindingType]) -> Iterator[Binding]:
    for binding in bindings:
        if isinstance(binding, Binding):
            yield binding


def unknown_names(keys: dict[str, str]) -> list[str]:
    return sorted(set(keys) - set(named_keys())) if keys else []


def as_yaml() -> str:
    """All keys as they are, ready for the config file."""
    lines = [
        f'  {name}: "{binding.key}"'.ljust(44) + f"# {binding.tooltip or binding.description}"
        for name, binding in named_keys().items()
    ]
    return "\n".join(["keys:", *lines])
