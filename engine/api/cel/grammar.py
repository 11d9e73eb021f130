"""What is wrong with an expression that does not parse, in ANTLR's words, from the CEL runtime's parser."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_WRAPPED = re.compile(r"^[A-Z_]+: |\s*\[[A-Z_]+\]$")
_SYNTAX = re.compile(r"(?m)^ERROR: <input>:(\d+):(\d+): (.*)$(?:\n \| .*\n \| .*)?")
TOO_DEEP = "ERROR: <input>:-1:0: expression recursion limit exceeded: 250"  # as the words are read
TOO_HIGH = "ERROR: <input>:-1:0: max recursion depth exceeded"  # as the tree is made of them


@lru_cache(maxsize=1)
def _environment() -> Any:
    from cel_expr_python import cel  # takes 6 MiB: loaded when it is first asked for

    return cel.NewEnv()


def what_is_wrong(text: str) -> str:
    try:
        _environment().compile(text)
    except RuntimeError as error:
        said = _WRAPPED.sub("", str(error)).strip("\n")
        if said.startswith("Expression recursion limit"):
            return TOO_DEEP
        found = [match[0] for match in _SYNTAX.finditer(said) if match[1] != "-1"]
        return "\n".join(found) or said
    return TOO_DEEP
