"""Field names as CEL can say them (apiserver pkg/cel/escaping.go)."""

from __future__ import annotations

import re
from functools import lru_cache

_RESERVED = frozenset(
    ("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
     "let", "loop", "package", "namespace", "return", "var", "void", "while")
)  # fmt: skip
_PARTS = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@lru_cache(maxsize=65_536)
def escaped(name: str) -> str | None:
    """None for a name that no rule can reach."""
    if name in _RESERVED:
        return f"__{name}__"
    text = re.sub(r"__|[.\-/]", lambda match: _PARTS[match[0]], name)
    return text if _IDENTIFIER.fullmatch(text) else None


def unescaped(name: str) -> str:
    """The field that a name in an expression stands for."""
    reserved = name.removeprefix("__").removesuffix("__")
    if name == f"__{reserved}__" and reserved in _RESERVED:
        return reserved
    return re.sub("|".join(_PARTS.values()), lambda match: _UNESCAPED[match[0]], name)


_UNESCAPED = {escape: text for text, escape in _PARTS.items()}
