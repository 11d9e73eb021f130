"""The formats that tags name (apimachinery pkg/api/validate, strfmt.go)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from engine.api.validation import text
from engine.api.validation.problems import Problems

Check = Callable[[str, str, Problems], None]

_DRIVER_LENGTH, _POOL_LENGTH, _IDENTIFIER_LENGTH = 63, 253, 32
_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UUID_TEXT = "must be a lowercase UUID in 8-4-4-4-12 format"
_QUALIFIED = "a fully qualified name must be a domain and a name separated by a slash"
_DOMAIN = "a name must be a domain-prefixed path, such as 'example.com/my-prop'"


def short_name(value: str, path: str, problems: Problems) -> None:
    problems.all_invalid(path, value, text.dns_label(value, text.BYTES))


def long_name(value: str, path: str, problems: Problems) -> None:
    problems.all_invalid(path, value, text.dns_subdomain(value, text.BYTES))


def long_name_caseless(value: str, path: str, problems: Problems) -> None:
    problems.all_invalid(path, value, text.dns_subdomain_caseless(value))


def label_key(value: str, path: str, problems: Problems) -> None:
    problems.all_invalid(path, value, text.qualified_name(value))


def uuid(value: str, path: str, problems: Problems) -> None:
    if not _UUID.fullmatch(value):
        problems.invalid(path, value, _UUID_TEXT)


def pool_name(value: str, path: str, problems: Problems) -> None:
    if len(value.encode()) > _POOL_LENGTH:
        problems.too_long(path, _POOL_LENGTH)
    for index, part in enumerate(value.split("/")):
        if not part:
            problems.invalid(path, value, f"segment {index}: must not be empty")
        else:
            problems.all_invalid(
                path, part, (f"segment {index}: {why}" for why in text.dns_subdomain(part, text.BYTES))
            )


def fully_qualified_name(value: str, path: str, problems: Problems) -> None:
    parts = value.split("/")
    if len(parts) > 2:
        problems.invalid(path, value, "must not contain more than one slash")
    elif len(parts) == 2:
        _prefix(parts[0], path, problems)
        if not parts[1]:
            problems.invalid(path, "", "name must not be empty")
        else:
            _identifier(parts[1], path, problems)
    else:
        _identifier(value, path, problems)
        problems.invalid(path, value, _QUALIFIED)


def _prefix(prefix: str, path: str, problems: Problems) -> None:
    if not prefix:
        problems.invalid(path, "", "prefix must not be empty")
        return
    if len(prefix.encode()) > _DRIVER_LENGTH:
        problems.too_long(path, _DRIVER_LENGTH)
    problems.all_invalid(path, prefix, (f"prefix: {why}" for why in text.dns_subdomain(prefix, text.BYTES)))


def _identifier(name: str, path: str, problems: Problems) -> None:
    if len(name.encode()) > _IDENTIFIER_LENGTH:
        problems.too_long(path, _IDENTIFIER_LENGTH)
    problems.all_invalid(path, name, text.c_identifier(name))


def extended_resource(value: str, path: str, problems: Problems) -> None:
    """As a quota would name it, too."""
    if "/" not in value:
        problems.invalid(path, value, _DOMAIN)
    elif "kubernetes.io/" in value:
        problems.invalid(path, value, 'must not have "kubernetes.io/" domain')
    if value.startswith("requests."):
        problems.invalid(path, value, 'must not have "requests." prefix')
    problems.all_invalid(path, value, text.qualified_name(f"requests.{value}"))


def _most_characters(value: str, path: str, problems: Problems, *, most: int) -> None:
    if len(value) > most:
        problems.too_long(path, most, "characters")


def _most_bytes(value: str, path: str, problems: Problems, *, most: int) -> None:
    if len(value.encode()) > most:
        problems.too_long(path, most)


def characters(most: int) -> Check:
    return partial(_most_characters, most=most)


def most_bytes(most: int) -> Check:
    return partial(_most_bytes, most=most)


DRIVER: tuple[Check, ...] = (long_name_caseless, characters(_DRIVER_LENGTH))
