"""Paths of files in volumes, their modes, and which keys become which files (core validation, validateKeyToPath)."""

from __future__ import annotations

from engine.api.types import Object
from engine.api.validation.problems import Problems

_MAX_MODE = 0o777
_MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive"


def descending_path(value: str, path: str, problems: Problems) -> None:
    """A relative path that does not step back."""
    if value.startswith("/"):
        problems.invalid(path, value, "must be a relative path")
    no_backsteps(value, path, problems)


def no_backsteps(value: str, path: str, problems: Problems) -> None:
    if ".." in value.split("/"):
        problems.invalid(path, value, "must not contain '..'")


def local_file(value: str, path: str, problems: Problems) -> None:
    """A relative path whose first name is not one of the kubelet's own (ValidateLocalNonReservedPath)."""
    descending_path(value, path, problems)
    if value.startswith("..") and not value.startswith("../"):
        problems.invalid(path, value, "must not start with '..'")


def file_mode(mode: int | None, path: str, problems: Problems) -> None:
    if mode is not None and not 0 <= mode <= _MAX_MODE:
        problems.invalid(path, mode, _MODE_TEXT)


def items(source: Object, path: str, problems: Problems) -> None:
    """The keys of a Secret or ConfigMap that become files."""
    for index, item in enumerate(source.get("items", ())):
        at = f"{path}.items[{index}]"
        problems.required_fields(item, at, "key", "path")
        local_file(item.get("path", ""), f"{at}.path", problems)
        file_mode(item.get("mode"), f"{at}.mode", problems)
