"""The conditions of a namespace that is being deleted: pure (deletion/status_condition_utils.go)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from engine.api.types import GVR, Object
from engine.controllers.conditions import Conditions, find_condition

# Type, and the reason and message of the case that all is well, in the order in which they are shown.
_FINE = (
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    ("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    ("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
    ("NamespaceFinalizersRemaining", "ContentRemoved", "All content successfully removed"),
)


@dataclass(slots=True)
class Findings:
    """What one pass over the content of a namespace found."""

    undiscovered: list[str] = field(default_factory=list)  # group versions that do not say what they serve
    errors: list[str] = field(default_factory=list)
    remaining: dict[GVR, int] = field(default_factory=dict)
    finalizers: dict[str, int] = field(default_factory=dict)
    estimate: int = 0  # seconds until what remains may be gone

    def discovery_error(self) -> str:
        """As a client says it that reads the discovery of all groups at once."""
        stale = sorted(f"{each}: stale GroupVersion discovery: {each}" for each in self.undiscovered)
        return f"unable to retrieve the complete list of server APIs: {', '.join(stale)}"

    def problems(self) -> Mapping[str, tuple[str, str]]:
        """Reason and message of each condition that is not well."""
        found: dict[str, tuple[str, str]] = {}
        if self.undiscovered:
            count = f"Discovery failed for some groups, {len(self.undiscovered)} failing"
            found["NamespaceDeletionDiscoveryFailure"] = "DiscoveryFailed", f"{count}: {self.discovery_error()}"
        if self.errors:
            joined = ", ".join(sorted(self.errors))
            message = f"Failed to delete all resource types, {len(self.errors)} remaining: {joined}"
            found["NamespaceDeletionContentFailure"] = "ContentDeletionFailed", message
        if self.remaining:
            left = sorted(
                f"{gvr.resource}.{gvr.group} has {count} resource instances" for gvr, count in self.remaining.items()
            )
            message = f"Some resources are remaining: {', '.join(left)}"
            found["NamespaceContentRemaining"] = "SomeResourcesRemain", message
        if self.finalizers:
            left = sorted(f"{name} in {count} resource instances" for name, count in self.finalizers.items())
            message = f"Some finalizers are remaining: {', '.join(left)}"
            found["NamespaceFinalizersRemaining"] = "SomeFinalizersRemain", message
        return found


def deletion_conditions(conditions: Conditions, findings: Findings, now: datetime) -> Conditions:
    """The conditions after a pass; those of other types stay."""
    problems = findings.problems()
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    result = list(conditions)
    for type, reason, message in _FINE:
        status = "True" if type in problems else "False"
        reason, message = problems.get(type, (reason, message))
        old = find_condition(result, type)
        same = old is not None and old["status"] == status
        new: Object = {
            "type": type,
            "status": status,
            "lastTransitionTime": old["lastTransitionTime"] if same and old is not None else stamp,
            "reason": reason,
            "message": message,
        }
        if old is None:
            result.append(new)
        else:
            result[result.index(old)] = new
    return result
