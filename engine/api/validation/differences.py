"""How two values differ, laid out as go-cmp does it: upstream's answers show what must not change.

The lines that are alike are left out. go-cmp itself promises no stable output; names of fields are Go's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

_ACRONYMS = re.compile(r"(aws|csi|dns|fc|gce|grpc|http|ip|iscsi|nfs|os|qos|rbd|tcp|tty|uid|url)(?=[A-Z]|s?$)")


def difference(kind: str, old: Any, new: Any) -> str:
    """A `-` line for what was there, a `+` line for what is."""
    lines = [f"  {kind}{{", *_fields(old, new, 1), "  }"]
    return "\n".join(lines) + "\n"


def go_name(field: str) -> str:
    """`dnsPolicy` is DNSPolicy, `seLinuxOptions` is SELinuxOptions."""
    found = _ACRONYMS.match(field)
    if found:
        return found[0].upper() + field[found.end() :]
    return field.replace("se", "SE", 1) if field.startswith("seLinux") else field[:1].upper() + field[1:]


def _fields(old: Any, new: Any, depth: int) -> Iterator[str]:
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if before != after:
            yield from _value(f"{go_name(name)}: ", before, after, depth)


def _value(label: str, before: Any, after: Any, depth: int) -> Iterator[str]:
    indent = "\t" * depth
    if isinstance(before, dict) and isinstance(after, dict):
        yield f"  {indent}{label}{{"
        yield from _fields(before, after, depth + 1)
        yield f"  {indent}}},"
    elif isinstance(before, list) and isinstance(after, list):
        yield f"  {indent}{label}{{"
        yield from _elements(before, after, depth + 1)
        yield f"  {indent}}},"
    else:
        yield f"- {indent}{label}{_shown(_zero(after) if before is None else before)},"
        yield f"+ {indent}{label}{_shown(_zero(before) if after is None else after)},"


def _zero(other: Any) -> Any:
    """What Go has where nothing was said, beside a value."""
    return "" if isinstance(other, str) else None


def _elements(old: list[Any], new: list[Any], depth: int) -> Iterator[str]:
    indent = "\t" * depth
    for index in range(max(len(old), len(new))):
        before = old[index] if index < len(old) else None
        after = new[index] if index < len(new) else None
        if index >= len(old):
            yield f"+ {indent}{_shown(after)},"
        elif index >= len(new):
            yield f"- {indent}{_shown(before)},"
        elif before != after:
            yield from _value("", before, after, depth)


def _shown(value: Any) -> str:
    match value:
        case None:
            return "nil"
        case dict():
            return "{" + ", ".join(f"{go_name(name)}: {_shown(item)}" for name, item in value.items()) + "}"
        case list():
            return "{" + ", ".join(_shown(item) for item in value) + "}"
        case _:
            return orjson.dumps(value).decode()
