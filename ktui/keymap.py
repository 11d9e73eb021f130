"""The names of all keys: what `keys` in the config file may set (`ktui/settings.py`)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from importlib import import_module

from textual.binding import Binding, BindingType
from textual.keys import KEY_TO_UNICODE_NAME, REPLACED_KEYS, Keys, _character_to_key

from ktui.screens.catalogue import CATALOGUE

MODIFIERS = ("ctrl+", "shift+", "alt+", "super+", "hyper+", "meta+")
EVERYWHERE = ""
_OF_A_TERMINAL = frozenset(key.value for key in Keys)


def named_keys() -> dict[str, Binding]:
    """Every key that has a name, by that name; loads all screens."""
    return {name: binding for names in _by_place().values() for name, binding in names.items()}


def _by_place() -> dict[str, dict[str, Binding]]:
    """The named keys of each screen, and those that are for all of them."""
    from ktui.app import KtuiApp
    from ktui.screens.frame import FrameScreen

    places = {EVERYWHERE: _named([*KtuiApp.BINDINGS, *FrameScreen.BINDINGS])}
    for entry in CATALOGUE:
        module, _, kind = entry.where.partition(":")
        places[entry.name] = _named(getattr(import_module(module), kind).BINDINGS)
    return places


def _named(bindings: list[BindingType]) -> dict[str, Binding]:
    return {binding.id: binding for binding in _bindings(bindings) if binding.id}


def _bindings(bindings: list[BindingType]) -> Iterator[Binding]:
    for binding in bindings:
        if isinstance(binding, Binding):
            yield binding


def unknown_names(keys: dict[str, str]) -> list[str]:
    return sorted(set(keys) - set(named_keys())) if keys else []


def is_key(name: str) -> bool:
    """Whether a terminal can send it: a character, or a key by the name that Textual has for it."""
    while modifier := next((each for each in MODIFIERS if name.startswith(each) and name not in _OF_A_TERMINAL), ""):
        name = name.removeprefix(modifier)
    if len(name) == 1 or name in _OF_A_TERMINAL:
        return True
    full = REPLACED_KEYS.get(name, name)
    try:
        character = unicodedata.lookup(KEY_TO_UNICODE_NAME.get(full, full.replace("_", " ")))
    except KeyError:
        return False
    return _character_to_key(character) == name


def keys_of(text: str) -> list[str]:
    """The keys that an entry names, each as Textual names it: `+` is `plus`."""
    return [_character_to_key(key) if len(key) == 1 else key for key in (each.strip() for each in text.split(","))]


def clashes(keys: Mapping[str, str]) -> dict[str, str]:
    """Of the entries that give an action a key which another one has in the same place: which key, and whose it is.

    Two that share a key as ktui comes share it on purpose: a screen's own goes before that of all screens.
    """
    if not keys:
        return {}
    places = _by_place()
    found: dict[str, str] = {}
    for name, text in keys.items():
        for place, names in places.items():
            here = {**places[EVERYWHERE], **names}
            others = names if place and name in places[EVERYWHERE] else here  # what is everywhere clashes once
            if name in here and (told := _taken(keys_of(text), name, here, others, keys)):
                found.setdefault(name, told)
    return found


def _taken(
    wanted: list[str], name: str, here: Mapping[str, Binding], others: Mapping[str, Binding], keys: Mapping[str, str]
) -> str:
    """`5 is screen.controllers too`; "" where nobody has any of the keys."""
    at_first = set(keys_of(here[name].key))
    for other, binding in others.items():
        theirs = set(keys_of(keys.get(other, binding.key)))
        shared = [key for key in wanted if key in theirs and key not in at_first & set(keys_of(binding.key))]
        if shared and other != name:
            return f"{shared[0]} is {other} too"
    return ""


def as_yaml() -> str:
    """All keys as they are, ready for the config file."""
    lines = [
        f'  {name}: "{binding.key}"'.ljust(44) + f"# {binding.tooltip or binding.description}"
        for name, binding in named_keys().items()
    ]
    return "\n".join(["keys:", *lines])
