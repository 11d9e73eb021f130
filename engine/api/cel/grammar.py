"""What is wrong with an expression that does not parse, in ANTLR's words, from the CEL runtime's parser."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_WRAPPED = re.compile(r"^[A-Z_]+: |\s*\[[A-Z_]+\]$")
_SYNTAX = re.compile(r"(?m)^ERROR: <input>:(\d+):(\d+): (.*)$(?:\n \| .*\n \| .*)?")
_NO_OPTIONALS = "unsupported syntax '"  # which the runtime would have to be told to know
_AFTER_DOT = re.compile(r"no viable alternative at input '\.(true|false|null)'")
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
        told = (match[0] for match in _SYNTAX.finditer(said) if match[1] != "-1")
        found = [_in_go(each, text) for each in told if _NO_OPTIONALS not in each]
        return "\n".join(found) or said
    return TOO_DEEP


def _in_go(told: str, text: str) -> str:
    """As the parser of cel-go tells it: it names tokens as they are, and expects a name behind a dot."""
    told = told.replace("has() argument must be a field selection", "invalid argument to has() macro")
    told = _AFTER_DOT.sub(r"mismatched input '\1' expecting IDENTIFIER", told).replace(r"\u003F", "?")
    first, *rest = told.split("\n")
    if "token recognition error" in first and "\n" in text:
        first = first.replace(r"\n", "\n").replace(r"\t", "\t")
    return "\n".join((first, *rest))
