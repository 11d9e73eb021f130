"""The checks that kubectl makes itself before it sends a manifest. All else the server validates (fieldValidation).

Source of the behaviour: kubectl pkg/validation/schema.go (ParamVerifyingSchema).
"""

from __future__ import annotations

from typing import Any

_INVALID = "invalid object to validate"


def check(value: Any) -> str:
    """What is wrong with a manifest's type information, in kubectl's words; "" for nothing."""
    problems = _type_problems(value)
    if not problems and (value["apiVersion"], value["kind"]) == ("v1", "List"):
        items = value.get("items")
        if not isinstance(items, list):
            return _INVALID
        problems = [problem for item in items for problem in _type_problems(item)]
    problems = list(dict.fromkeys(problems))
    return f"[{', '.join(problems)}]" if len(problems) > 1 else "".join(problems)


def _type_problems(value: Any) -> list[str]:
    if not isinstance(value, dict):
        return [_INVALID]
    problems = []
    for name in ("apiVersion", "kind"):
        if value.get(name) is None or value[name] == "":
            problems.append(f"{name} not set")
        elif not isinstance(value[name], str):
            problems.append(f"{name} isn't string type")
        elif name == "apiVersion" and value[name].count("/") > 1:
            problems.append(f"unexpected GroupVersion string: {value[name]}")
    return problems
