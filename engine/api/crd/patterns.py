"""Regular expressions as Kubernetes understands them: RE2, which never backtracks, and not Python's.

The CEL runtime brings RE2 with it, so that a `pattern` is matched by the very `matches` that rules have.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

# Where the words of the two RE2s differ.
_GO_WORDS = {"missing )": "missing closing )", "missing ]": "missing closing ]", "unexpected )": "unexpected )"}


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
    text = str(found.value()).partition(": ")[2].removeprefix("invalid regular expression: ")
    why, _, where = text.rpartition(": ")
    return f"error parsing regexp: {_GO_WORDS.get(why, why)}: `{where}`"
