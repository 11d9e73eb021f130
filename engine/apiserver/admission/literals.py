"""`Object{spec: Object.spec{replicas: 3}}` and `JSONPatch{op: "add", ...}` as CEL's own maps.

The types of MutatingAdmissionPolicy's literals (apiserver pkg/cel/mutation) exist for type checks alone; their values
are those of maps with the same fields.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""(?P<string>[rR]?(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))
    | (?P<type>\b(?:Object(?:\.[A-Za-z_][A-Za-z0-9_]*)*|JSONPatch)\s*\{)
    | (?P<field>[A-Za-z_][A-Za-z0-9_]*)(?=\s*:)
    | (?P<escape>\bjsonpatch\.escapeKey\b)
    | (?P<other>[{}\[\]()?,:]|[A-Za-z_][A-Za-z0-9_.]*|.)""",
    re.VERBOSE | re.DOTALL,
)
_OPEN, _CLOSE = "([{", ")]}"


def plain_literals(source: str) -> str:
    """The expression with map literals in the place of Object and JSONPatch literals."""
    made: list[str] = []
    depth: list[bool] = []  # for each open bracket: whether it is that of such a literal
    at_start = False  # of a field
    for match in _TOKEN.finditer(source):
        text, kind = match[0], match.lastgroup
        if kind == "type":
            made.append("{")
            depth.append(True)
            at_start = True
            continue
        if kind == "field" and at_start and depth and depth[-1]:
            made.append(f'"{_unescaped(text)}"')
        elif kind == "escape":
            made.append("kubernetesEscapeKey")
        else:
            made.append(text)
        if text in _OPEN:
            depth.append(False)
        elif text in _CLOSE and depth:
            depth.pop()
        if not text.isspace():
            at_start = text == "," and bool(depth) and depth[-1]
    return "".join(made)


def _unescaped(name: str) -> str:
    """A field whose name CEL does not allow is written in another way (pkg/cel/escaping.go)."""
    for escape, text in (("__dot__", "."), ("__dash__", "-"), ("__slash__", "/"), ("__underscores__", "__")):
        name = name.replace(escape, text)
    return re.sub(r"^__(\w+)__$", r"\1", name)
