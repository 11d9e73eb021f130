"""The kuberc file: aliases for commands, and other defaults for their flags, before a command is looked for.

Source of the behaviour: kubectl pkg/kuberc (kuberc.go, marshal.go), error texts included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.client.plugin_policy import policy_problem
from engine.kubectl import yaml
from engine.kubectl.command import Command, Found, find
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Flags
from engine.kubectl.flagsets import GLOBAL

GROUP, KIND = "kubectl.config.k8s.io", "Preference"
VERSIONS = ("v1beta1", "v1alpha1")
_FIELDS = {"apiVersion", "kind", "metadata", "defaults", "overrides", "aliases", "credentialPluginPolicy",
           "credentialPluginAllowlist"}  # fmt: skip
_ALIAS = re.compile(r"[a-zA-Z]+")
_SHORTS = re.compile(r"-[a-zA-Z]+")


class PreferencesError(Exception):
    """Preferences that cannot be applied: kubectl leaves with these words and no `error:` before them."""

    def __init__(self, text: str) -> None:
        super().__init__(f"error occurred while applying preferences {text}")


@dataclass(slots=True)
class Applied:
    """The words of a command with its alias resolved, and flags that are set as if they had been given."""

    words: list[str]
    presets: list[tuple[str, str]] = field(default_factory=list)
    name: str = ""  # of the alias or command that the flags are of, for error texts
    alias: bool = False
    plugin_policy: str = ""
    allowed_plugins: tuple[str, ...] = ()

    def set(self, flags: Flags) -> None:
        """Raises PreferencesError for a value that a flag does not take."""
        for flag, value in self.presets:
            try:
                flags.preset(flag, value)
            except CommandError as error:
                what, where = ("value", "alias") if self.alias else ("override value", "command")
                raise PreferencesError(
                    f"could not apply {what} {value} to flag {flag} in {where} {self.name} err: {error}"
                ) from error


def file_of(environment: Mapping[str, str]) -> Path:
    """Where preferences are unless a flag says otherwise."""
    return Path(environment.get("KUBERC") or Path(environment.get("HOME", "")) / ".kube" / "kuberc")


def apply(
    root: Command, words: Sequence[str], environment: Mapping[str, str], *, program: str, warn: Callable[[str], None]
) -> Applied:
    """What becomes of the words of a command line. Raises PreferencesError."""
    plain = Applied(list(words))
    if not words or environment.get("KUBECTL_KUBERC", "").lower() == "false":
        return plain
    preference = _load(_explicit(words), environment, warn)
    if preference is None:
        return plain
    _validate(preference)
    plain.plugin_policy = str(preference.get("credentialPluginPolicy") or "")
    plain.allowed_plugins = _allowed_plugins(preference) or ()
    try:
        found = _find(root, words, program)
    except CommandError:
        return _aliased(root, preference, plain, program=program, warn=warn)
    return _defaulted(root, preference, plain, found, program=program, warn=warn)


def _find(root: Command, words: Sequence[str], program: str) -> Found:
    return find(root, words, program=program, global_flags=GLOBAL)


def _explicit(words: Sequence[str]) -> str:
    """The value of --kuberc, which is looked for before flags are read."""
    for index, word in enumerate(words):
        if word == "--":
            break
        if word == "--kuberc":
            if index + 1 == len(words):
                raise PreferencesError("kuberc file is not found")
            return words[index + 1]
        if "--kuberc=" in word:
            value = word.split("=")[1]
            if not value:
                raise PreferencesError("kuberc file is not found")
            return value
    return ""


def _load(explicit: str, environment: Mapping[str, str], warn: Callable[[str], None]) -> dict[str, Any] | None:
    if environment.get("KUBERC") == "off":
        if explicit:
            raise PreferencesError(
                "kuberc error disabling kuberc via KUBERC=off and passing kuberc flag are mutually exclusive"
            )
        return None
    asked_for = bool(explicit or environment.get("KUBERC"))
    file = Path(explicit) if explicit else file_of(environment)
    try:
        content = file.read_bytes()
    except OSError as error:
        if not asked_for:
            return None
        raise PreferencesError(f"kuberc error kuberc: open {file}: {(error.strerror or '').lower()}") from error
    value, problem = read(content)
    if value is None and content.strip():
        if asked_for:
            raise PreferencesError(
                f"kuberc error kuberc: no valid preferences found in {file}, use --v=5 to see details"
            )
        warn(
            f"kuberc: no preferences loaded from {file}: no valid preferences found in {file}, use --v=5 to see details"
        )
        return None
    if problem:
        warn(f"kuberc: ignoring strict decoding error in {file}: strict decoding error: {problem}")
    return value


def read(content: bytes) -> tuple[dict[str, Any] | None, str]:
    """The preferences of a file, in the newest version, and what its strict decoding has against it."""
    try:
        value = yaml.load(content)
    except yaml.YamlError:
        return None, ""
    if not isinstance(value, dict) or value.get("kind") != KIND:
        return None, ""
    group, _, version = str(value.get("apiVersion")).partition("/")
    if group != GROUP or version not in VERSIONS:
        return None, ""
    unknown = [name for name in sorted(value) if name not in _FIELDS]
    if version == "v1alpha1":
        value = {**value, "defaults": _newer(value.get("overrides")), "aliases": _newer(value.get("aliases"))}
    return value, ", ".join(f'unknown field "{name}"' for name in unknown)


def _newer(entries: Any) -> list[dict[str, Any]]:
    return [{**entry, "options": entry.get("flags") or entry.get("options")} for entry in entries or ()]


def _validate(preference: Mapping[str, Any]) -> None:
    seen: set[str] = set()
    for alias in preference.get("aliases") or ():
        name = str(alias.get("name") or "")
        if not _ALIAS.fullmatch(name):
            raise PreferencesError("invalid alias name, can only include alphabetical characters")
        _check_flags(alias)
        if name in seen:
            raise PreferencesError(f"duplicate alias name {name}")
        seen.add(name)
    for entry in preference.get("defaults") or ():
        _check_flags(entry)
    policy = str(preference.get("credentialPluginPolicy") or "")
    if problem := policy_problem(policy, _allowed_plugins(preference)):
        raise PreferencesError(problem)


def _allowed_plugins(preference: Mapping[str, Any]) -> tuple[str, ...] | None:
    entries = preference.get("credentialPluginAllowlist")
    return None if entries is None else tuple(str(entry.get("command") or entry.get("name") or "") for entry in entries)


def _check_flags(entry: Mapping[str, Any]) -> None:
    for name, _ in _options(entry):
        if name.startswith("-"):
            raise PreferencesError(f"flag name {name} should be in long form without dashes")


def _options(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(str(option.get("name")), str(option.get("default") or "")) for option in entry.get("options") or ()]


# -- aliases


def _aliased(
    root: Command, preference: Mapping[str, Any], plain: Applied, *, program: str, warn: Callable[[str], None]
) -> Applied:
    place = next((index for index, word in enumerate(plain.words) if not word.startswith("-")), None)
    if place is None:
        return plain
    name = plain.words[place]
    alias = next((alias for alias in preference.get("aliases") or () if alias.get("name") == name), None)
    if alias is None:
        return plain
    target = str(alias.get("command") or "").split()
    try:
        found = _find(root, target, program)
    except CommandError:
        raise PreferencesError(
            f'command "{alias.get("command")}" not found to set alias "{name}": [{" ".join(target)}]'
        ) from None
    presets = _presets(found.command, _options(alias), plain.words)
    for flag in presets.missing:
        raise PreferencesError(f"invalid alias flag {flag} in alias {program}")
    prepended = [str(word) for word in alias.get("prependArgs") or ()]
    appended = [str(word) for word in alias.get("appendArgs") or ()]
    words = [*plain.words[:place], *target, *prepended, *plain.words[place + 1 :], *appended]
    return replace(plain, words=words, presets=presets.values, name=program, alias=True)


# -- defaults


def _defaulted(
    root: Command,
    preference: Mapping[str, Any],
    plain: Applied,
    found: Found,
    *,
    program: str,
    warn: Callable[[str], None],
) -> Applied:
    for entry in preference.get("defaults") or ():
        name = str(entry.get("command") or "")
        try:
            other = _find(root, name.split(), program)
        except CommandError:
            warn(f'Warning: command "{name}" not found to set kuberc override\n')
            continue
        if other.command.name != found.command.name:
            continue
        presets = _presets(found.command, _options(entry), plain.words)
        for flag in presets.missing:
            raise PreferencesError(f"invalid flag {flag} for command {name}")
        plain.presets += presets.values
        plain.name = name
    return plain


@dataclass(slots=True)
class _Presets:
    values: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def _presets(command: Command, options: Sequence[tuple[str, str]], words: Sequence[str]) -> _Presets:
    """The options that the words do not give themselves."""
    flags = {flag.name: flag for flag in (*GLOBAL, *command.flags)}
    result = _Presets()
    for name, value in options:
        if name not in flags:
            result.missing.append(name)
            break
        if not any(_gives(word, flags[name]) for word in words):
            result.values.append((name, value))
    return result


def _gives(word: str, flag: Flag) -> bool:
    if word == f"--{flag.name}" or word.startswith(f"--{flag.name}="):
        return True
    if not flag.short:
        return False
    return word.startswith(f"-{flag.short}") or (_SHORTS.fullmatch(word) is not None and flag.short in word[1:])
