"""The NonStructuralSchema condition (apiextensions-apiserver pkg/controller/nonstructuralschema)."""

from __future__ import annotations

from engine.api.crd.naming import condition, find_condition, with_condition
from engine.api.crd.structural_rules import structural_problems
from engine.api.errors import Cause, field_invalid
from engine.api.types import Object


def structure_violations(definition: Object) -> str:
    """Why schemas of a definition are not structural; "" if they are. Where unknown fields are kept, none is."""
    violations: list[Cause] = []
    if definition["spec"].get("preserveUnknownFields"):
        violations.append(field_invalid("spec.preserveUnknownFields", True, "must be false"))
    for index, version in enumerate(definition["spec"]["versions"]):
        raw = (version.get("schema") or {}).get("openAPIV3Schema")
        if raw is not None:
            violations += structural_problems(raw, f"spec.versions[{index}].schema.openAPIV3Schema")
    texts = [str(each) for each in violations]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]" if texts else ""


def structure_condition(definition: Object, status: Object | None, violations: str, *, now: str) -> Object | None:
    """`status` (None for one that does not change) with the condition where the definition needs it."""
    current = {**definition, "status": status} if status is not None else definition
    before = find_condition(current, "NonStructuralSchema")
    if not violations:
        if before is None:
            return status
        kept = dict(current.get("status") or {})
        kept["conditions"] = [each for each in kept["conditions"] if each.get("type") != "NonStructuralSchema"]
        return kept
    wanted = condition("NonStructuralSchema", "True", "Violations", violations)
    if before is not None and before.get("message") == violations and before.get("status") == "True":
        return status
    return with_condition(current.get("status") or {}, wanted, now=now)
