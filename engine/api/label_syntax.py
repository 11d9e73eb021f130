"""What label keys and values may look like, in the words of apimachinery pkg/util/validation."""

from __future__ import annotations

import re

_NAME_PATTERN = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_VALUE_PATTERN = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_SUBDOMAIN_PATTERN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME_WRONG = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_WRONG = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_SUBDOMAIN_WRONG = (
    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
    "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_QUALIFIED_WRONG = (
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' "
    "(e.g. 'example.com/MyName')"
)


def label_key_errors(name: str) -> list[str]:
    """What is wrong with the key of a label, an annotation, a taint and the like (content.IsLabelKey, which
    validation.IsQualifiedName is too)."""
    errors: list[str] = []
    prefix, slash, rest = name.partition("/")
    if slash and "/" in rest:
        return [_QUALIFIED_WRONG]
    if slash:
        if not prefix:
            errors.append("prefix part must be non-empty")
        elif len(prefix.encode()) > 253:
            errors.append("prefix part must be no more than 253 bytes")
        elif not _SUBDOMAIN_PATTERN.fullmatch(prefix):
            errors.append(_SUBDOMAIN_WRONG)
    name = rest if slash else name
    if not name:
        errors.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        errors.append("name part must be no more than 63 bytes")
    if not _NAME_PATTERN.fullmatch(name):
        errors.append(_NAME_WRONG)
    return errors


def label_value_errors(value: str) -> list[str]:
    """What is wrong with a label value (validation.IsValidLabelValue)."""
    if len(value) <= 63 and _VALUE_PATTERN.fullmatch(value):
        return []
    errors: list[str] = []
    if len(value.encode()) > 63:
        errors.append("must be no more than 63 bytes")
    if not _VALUE_PATTERN.fullmatch(value):
        errors.append(_VALUE_WRONG)
    return errors
