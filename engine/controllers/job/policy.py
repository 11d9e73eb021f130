"""What ended Pods mean by a Job's failure and success policies: pure (pod_failure_policy.go, success_policy.go)."""

from __future__ import annotations

from typing import NamedTuple

from engine.api.types import Object
from engine.controllers.conditions import conditions_of
from engine.controllers.job.indexes import parse_indexes


class Verdict(NamedTuple):
    """`fail_job` says why the whole Job fails at once ("" if it does not); `fail_index` that the Pod's index does."""

    fail_job: str
    counts: bool
    fail_index: bool = False


def judge_failure(policy: Object | None, pod: Object) -> Verdict:
    """The first rule that matches decides; without one the failure counts."""
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        why = _matches(rule, pod)
        if not why:
            continue
        if rule["action"] == "FailJob":
            return Verdict(f"{why} matching FailJob rule at index {number}", True)
        return Verdict("", rule["action"] != "Ignore", rule["action"] == "FailIndex")
    return Verdict("", True)


def _matches(rule: Object, pod: Object) -> str:
    """How the Pod matches, in upstream's words; "" if it does not."""
    metadata, status = pod["metadata"], pod.get("status") or {}
    name = f"{metadata['namespace']}/{metadata['name']}"
    if (codes := rule.get("onExitCodes")) is not None:
        for container in [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]:
            terminated = (container.get("state") or {}).get("terminated")
            if terminated is None or codes.get("containerName") not in (None, container["name"]):
                continue
            code = terminated.get("exitCode", 0)
            if code and (code in codes["values"]) == (codes["operator"] == "In"):
                return f"Container {container['name']} for pod {name} failed with exit code {code}"
    for pattern in rule.get("onPodConditions") or ():
        for condition in conditions_of(status):
            same_status = condition["status"] == pattern.get("status", "True")
            if condition["type"] == pattern["type"] and same_status:
                return f"Pod {name} has condition {condition['type']}"
    return ""


def success_policy_met(job: Object, succeeded: set[int]) -> str:
    """How an Indexed Job has succeeded early; "" if it has not."""
    completions = int(job["spec"].get("completions") or 0)
    for number, rule in enumerate((job["spec"].get("successPolicy") or {}).get("rules") or ()):
        wanted = succeeded
        if rule.get("succeededIndexes") is not None:
            indexes = parse_indexes(rule["succeededIndexes"], completions)
            wanted = succeeded & indexes
            if rule.get("succeededCount") is None and wanted != indexes:
                continue
        if rule.get("succeededCount") is not None and len(wanted) < rule["succeededCount"]:
            continue
        return f"Matched rules at index {number}"
    return ""
