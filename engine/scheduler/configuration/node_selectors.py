"""What is wrong with the node affinity that a profile adds (component-helpers/scheduling/corev1/nodeaffinity)."""

from __future__ import annotations

from engine.api.errors import Cause
from engine.api.types import Object
from engine.scheduler.node_selector_terms import term_problems


def added_affinity_problems(affinity: Object, path: str) -> list[Cause]:
    required, preferred = (
        "requiredDuringSchedulingIgnoredDuringExecution",
        "preferredDuringSchedulingIgnoredDuringExecution",
    )
    causes: list[Cause] = []
    for i, term in enumerate((affinity.get(required) or {}).get("nodeSelectorTerms") or ()):
        causes += term_problems(term or {}, f"{path}.{required}.nodeSelectorTerms[{i}]")
    for i, weighted in enumerate(affinity.get(preferred) or ()):
        # One without a weight is left out.
        if weighted and weighted.get("weight"):
            causes += term_problems(weighted.get("preference") or {}, f"{path}.{preferred}[{i}]")
    return causes
