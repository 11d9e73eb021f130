"""Regular expressions as Kubernetes understands them: RE2, which never backtracks, and not Python's.

The CEL runtime brings RE2 with it, so that a `pattern` is matched by the very `matches` that rules have.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

# RE2's words (re2/regexp.cc), and Go's (regexp/syntax/parse.go).
_WORDS = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "trailing \\": "trailing backslash at end of expression",
}
_INVALID, _LARGE = "invalid regular expression: ", "regular expression too large: "


@lru_cache(maxsize=1)
def _matches() -> Any:
    from cel_expr_python import cel  # takes 6 MiB: loaded when it is first asked for

    texts = {"text": cel.Type.STRING, "pattern": cel.Type.STRING}
    return cel.NewEnv(variables=texts).compile("text.matches(pattern)")


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text; a broken one matches all."""
    found = _matches().eval(data={"text": text, "pattern": pattern})
    return found.value() is not False


@lru_cache(maxsize=1024)
def what_is_wrong(pattern: str) -> str:
    """Why this is no regular expression; "" if it is one."""
    found = _matches().eval(data={"text": "", "pattern": pattern})
    if isinstance(found.value(), bool):
        return ""
    text = str(found.value()).partition(": ")[2]
    if text.startswith(_LARGE):
        return _said("expression too large", pattern)
    text = text.removeprefix(_INVALID)
    for words, of_go in _WORDS.items():
        if text.startswith(words):
            return _said(of_go, text.removeprefix(words).removeprefix(": "))
    why, _, where = text.partition(": ")
    return _said(why, where)


def _said(why: str, where: str) -> str:
    return f"error parsing regexp: {why}: `{where}`"
