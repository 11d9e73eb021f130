"""How two values differ: upstream's answers show what must not change (apimachinery util/diff).

Since 1.34 that is a unified diff of the two as JSON, one space deep for each level, with three lines around what
differs and no names of files. Go's difflib is a port of Python's.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal

_ACRONYMS = re.compile(r"(aws|csi|dns|fc|gce|grpc|http|ip|iscsi|nfs|os|qos|rbd|tcp|tty|uid|url)(?=[A-Z]|s?$)")
_MOST_LINES = 1000  # of both, for which there is time to look for what they have in common
_ESCAPED = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}  # as encoding/json does it

_Step = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]


def difference(old: Any, new: Any) -> str:
    """Both are as Go shows them."""
    before, after = _lines(old), _lines(new)
    if len(before) + len(after) > _MOST_LINES:
        matcher: difflib.SequenceMatcher[str] = _LineByLine(before, after)
    else:
        matcher = difflib.SequenceMatcher(None, before, after)
    return "".join(_hunks(before, after, matcher.get_grouped_opcodes()))


class _LineByLine(difflib.SequenceMatcher[str]):
    """For what is so large that the search for the longest common parts would hold everybody up."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__()
        self._old, self._new = old, new

    def get_opcodes(self) -> list[_Step]:
        old, new = self._old, self._new
        head = _alike(old, new)
        tail = _alike(old[head:][::-1], new[head:][::-1])
        until_old, until_new = len(old) - tail, len(new) - tail
        steps: list[_Step] = [("equal", 0, head, 0, head)] if head else []
        if until_old == until_new:
            for same, run in groupby(range(head, until_old), lambda at: old[at] == new[at]):
                places = list(run)
                start, end = places[0], places[-1] + 1
                steps.append(("equal" if same else "replace", start, end, start, end))
        else:
            steps.append(("replace", head, until_old, head, until_new))
        return [*steps, ("equal", until_old, len(old), until_new, len(new))] if tail else steps


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines are the same from the start."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))


def _hunks(
    before: list[str], after: list[str], groups: Iterable[list[tuple[str, int, int, int, int]]]
) -> Iterator[str]:
    for steps in groups:
        (_, from_old, _, from_new, _), (_, _, to_old, _, to_new) = steps[0], steps[-1]
        yield f"@@ -{_range(from_old, to_old)} +{_range(from_new, to_new)} @@\n"
        for kind, old, old_end, new, new_end in steps:
            if kind == "equal":
                yield from (f" {line}" for line in before[old:old_end])
                continue
            yield from (f"-{line}" for line in before[old:old_end])
            yield from (f"+{line}" for line in after[new:new_end])


def _range(start: int, end: int) -> str:
    """As `diff -u` counts: a single line stands alone, nothing stands before the next line."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _lines(value: Any) -> list[str]:
    return [f"{line}\n" for line in json.dumps(value, indent=1, ensure_ascii=False).translate(_ESCAPED).split("\n")]


def go_name(field: str) -> str:
    """`dnsPolicy` is DNSPolicy, `seLinuxOptions` is SELinuxOptions."""
    found = _ACRONYMS.match(field)
    if found:
        return found[0].upper() + field[found.end() :]
    return field.replace("se", "SE", 1) if field.startswith("seLinux") else field[:1].upper() + field[1:]
