"""The checks that kubectl makes itself before it sends a manifest. All else the server validates (fieldValidation).

Source of the behaviour: kubectl pkg/validation/schema.go (ParamVerifyingSchema).
"""

from __future__ import annotations

from typing import Any


def check(value: Any) -> str:
    """What is wrong with a manifest's type information, in kubectl's words; "" for nothing."""
    if not isinstance(value, dict):
        return ""
    problems = [f"{name} not set" for name in ("apiVersion", "kind") if not value.get(name)]
    if len(problems) > 1:
        return f"[{', '.join(problems)}]"
    return problems[0] if problems else ""
