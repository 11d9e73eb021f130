"""How two values differ: upstream's answers show what must not change (apimachinery util/diff).

Since 1.34 that is a unified diff of the two as JSON, one space deep for each level, with three lines around what
differs and no names of files. Go's difflib is a port of Python's.
"""

from __future__ import annotations

import difflib
import json
import re
from typing import Any

_ACRONYMS = re.compile(r"(aws|csi|dns|fc|gce|grpc|http|ip|iscsi|nfs|os|qos|rbd|tcp|tty|uid|url)(?=[A-Z]|s?$)")
_HEADER_LINES = 2  # of the files, which have no names here
_ESCAPED = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}  # as encoding/json does it


def difference(old: Any, new: Any) -> str:
    """Both are as Go shows them."""
    lines = difflib.unified_diff(_lines(old), _lines(new))
    return "".join(list(lines)[_HEADER_LINES:])


def _lines(value: Any) -> list[str]:
    return [f"{line}\n" for line in json.dumps(value, indent=1, ensure_ascii=False).translate(_ESCAPED).split("\n")]


def go_name(field: str) -> str:
    """`dnsPolicy` is DNSPolicy, `seLinuxOptions` is SELinuxOptions."""
    found = _ACRONYMS.match(field)
    if found:
        return found[0].upper() + field[found.end() :]
    return field.replace("se", "SE", 1) if field.startswith("seLinux") else field[:1].upper() + field[1:]
