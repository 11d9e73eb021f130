"""Jobs and the Pods that the controller finds of them, with what it makes of that.

Most are rows of upstream's job_controller_test.go: TestControllerSyncJob, TestTrackJobStatusAndRemoveFinalizers,
TestSyncJobPastDeadline, and those with a failure policy, a success policy and a limit for each index.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.api.types import Object

LONG_AGO = "2025-12-31T23:00:00Z"

# A Pod by its mark, of an Indexed Job with its index and how often that failed before: `F`, `0F` or `0F1`.
#   P pending, A active, R ready, T on its way out, S succeeded, F failed with code 1, D failed by a disruption,
#   x failed with code 3, y with 5, z with 7, L by a disruption and on its way out, f failed and counted already.
Marks = str


@dataclass
class Row:
    """`want` are fields of the status; `created` and `deleted` are Pods."""

    pods: list[Marks]
    spec: Object
    want: Object
    conditions: list[str] = field(default_factory=list)
    created: int = 0
    deleted: int = 0
    status: Object = field(default_factory=dict)
    deleting: bool = False
    now: Object = field(default_factory=dict)  # what of the spec was changed after the status had been written


def row(
    pods: Marks = "",
    *conditions: str,
    active: int = 0,
    ready: int = 0,
    succeeded: int = 0,
    failed: int = 0,
    terminating: int = 0,
    completed: str = "",
    failed_indexes: str | None = None,
    created: int = 0,
    deleted: int = 0,
    status: Object | None = None,
    deleting: bool = False,
    now: Object | None = None,
    **spec: Any,
) -> Row:
    """One Pod a letter, or a word where there are spaces."""
    want: Object = {
        "active": active, "ready": ready, "succeeded": succeeded, "failed": failed, "terminating": terminating,
        "completedIndexes": completed, "failedIndexes": failed_indexes,
    }  # fmt: skip
    marks = pods.split() if " " in pods or pods[:1].isdigit() else list(pods)
    given = {"backoffLimit": 6, "parallelism": 2, **spec}
    return Row(marks, given, want, list(conditions), created, deleted, status or {}, deleting, now or {})


def indexed(pods: Marks = "", *conditions: str, **fields: Any) -> Row:
    return row(pods, *conditions, completionMode="Indexed", **{"completions": 5, **fields})


def by_index(pods: Marks, *conditions: str, **fields: Any) -> Row:
    defaults = {"completions": 2, "backoffLimit": 2**31 - 1, "backoffLimitPerIndex": 1, "failed_indexes": ""}
    return indexed(pods, *conditions, **{**defaults, **fields})


def early(pods: Marks, *conditions: str, **fields: Any) -> Row:
    """An Indexed Job that has succeeded once one of its first two indexes has."""
    policy = {"rules": [{"succeededIndexes": "0,1", "succeededCount": 1}]}
    return indexed(
        pods, *conditions, **{"completions": 2, "backoffLimit": 2**31 - 1, "successPolicy": policy, **fields}
    )


def had(condition: str, status: str = "True", **fields: Any) -> Object:
    """A status that has a condition."""
    made = {"type": condition, "status": status, "reason": "Before", "lastTransitionTime": LONG_AGO}
    return {"startTime": LONG_AGO, **fields, "conditions": [made]}


def codes(*rules: tuple[str, list[int]], operator: str = "In") -> Object:
    return {
        "rules": [
            {"action": action, "onExitCodes": {"operator": operator, "values": values}} for action, values in rules
        ]
    }


def disruption(action: str) -> Object:
    return {"rules": [{"action": action, "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}


DONE = ("SuccessCriteriaMet CompletionsReached", "Complete CompletionsReached")
LIMIT = ("FailureTarget BackoffLimitExceeded", "Failed BackoffLimitExceeded")
LATE = ("FailureTarget DeadlineExceeded", "Failed DeadlineExceeded")
POLICY = ("FailureTarget PodFailurePolicy", "Failed PodFailurePolicy")
EARLY = ("SuccessCriteriaMet SuccessPolicy", "Complete SuccessPolicy")
INDEXES = ("FailureTarget FailedIndexes", "Failed FailedIndexes")
SUSPENDED = "Suspended JobSuspended"
TWO_RULES = codes(("Ignore", [1, 2, 3]), ("FailJob", [5, 6, 7]))

ROWS: dict[str, Row] = {
    # -- how many
    "it starts": row(completions=5, active=2, created=2),
    "a work queue starts": row(active=2, created=2),
    "pending ones count": row("PP", completions=5, active=2),
    "as many as wanted": row("ARR", parallelism=3, completions=5, active=3, ready=2),
    "a work queue that is right": row("AA", active=2),
    "too few": row("AS", completions=5, active=2, succeeded=1, created=1),
    "a work queue that is too few": row("A", active=2, created=1),
    "too many": row("AAA", completions=5, active=2, terminating=1, deleted=1),
    "too many, ready": row("RRR", completions=5, active=2, ready=2, terminating=1, deleted=1),
    "far too many": row("AAAAAAAAAA", completions=5, active=2, terminating=8, deleted=8),
    "more than is left to do": row("AAASS", parallelism=3, completions=4, active=2, succeeded=2, terminating=1,
        deleted=1),
    "a failed one is replaced": row("AF", completions=5, active=2, failed=1, created=1),
    "one that failed and was counted": row("A", parallelism=1, completions=1, active=1, failed=1,
        status={"active": 1, "failed": 1}),
    "nothing while it is deleted": row("PAS", completions=5, deleting=True, active=2, succeeded=1),
    "managed by others": row("A", completions=2, managedBy="example.com/custom"),
    "managed by this controller": row(completions=2, managedBy="kubernetes.io/job-controller", active=2, created=2),
    # -- what is on its way out
    "one that leaves failed": row("AFT", parallelism=1, completions=1, active=1, failed=2, terminating=1),
    "one that leaves has not failed yet": row("AFT", parallelism=1, podReplacementPolicy="Failed", active=1,
        failed=1, terminating=1),
    "more leave than wanted": row("AATTTT", parallelism=1, completions=1, podReplacementPolicy="Failed", active=1,
        terminating=5, deleted=1),
    "more leave than wanted, with a failure policy": row("AATTTT", parallelism=1, completions=1,
        podFailurePolicy={"rules": []}, active=1, terminating=5, deleted=1),
    "one of no index leaves": indexed("T", podReplacementPolicy="Failed", active=1, terminating=1, created=1),
    "one of no index leaves and is replaced": indexed("T", active=2, terminating=1, created=2),
    # -- the end
    "all have succeeded": row("SSSSS", *DONE, completions=5, succeeded=5),
    "a work queue comes to its end": row("AS", active=1, succeeded=1),
    "a work queue has ended": row("SS", *DONE, succeeded=2),
    "a work queue has ended in spite of a failure": row("SF", *DONE, succeeded=1, failed=1),
    "too many failures": row("F", *LIMIT, completions=5, backoffLimit=0, deleting=True, failed=1),
    "what runs when it fails": row("RRF", LIMIT[0], completions=3, backoffLimit=0, failed=3, terminating=2,
        deleted=2),
    "one that is counted as failed succeeds": row("FS", *LIMIT, completions=2, backoffLimit=0, failed=2,
        status={"uncounted": [0, 1]}),
    "too late": row("AS", LATE[0], parallelism=1, completions=2, activeDeadlineSeconds=10,
        status={"startTime": LONG_AGO}, succeeded=1, failed=1, terminating=1, deleted=1),
    "too late for any Pod": row("", *LATE, completions=1, activeDeadlineSeconds=10, status={"startTime": LONG_AGO}),
    "too late and too many failures": row("F", *LIMIT, completions=1, backoffLimit=0, activeDeadlineSeconds=10,
        status={"startTime": LONG_AGO}, failed=1),
    "no deadline while suspended": row("", SUSPENDED, completions=2, suspend=True, activeDeadlineSeconds=10,
        status={"startTime": LONG_AGO}),
    "a condition keeps its place": row("", "Failed DeadlineExceeded", "FailureTarget DeadlineExceeded",
        completions=1, activeDeadlineSeconds=10, status=had("Failed", "False")),
    "a target that is not met is nothing": row("R", "FailureTarget=False Before", parallelism=1, completions=1,
        active=1, ready=1, status=had("FailureTarget", "False", active=1)),
    "a success that is not met is nothing": row("R", "SuccessCriteriaMet=False Before", parallelism=1,
        completions=1, active=1, ready=1, status=had("SuccessCriteriaMet", "False", active=1)),
    # -- suspended
    "suspended": row("AA", SUSPENDED, suspend=True, completions=4, terminating=2, deleted=2),
    "suspended, ready": row("RR", SUSPENDED, suspend=True, completions=4, terminating=2, deleted=2),
    "resumed": row("", "Suspended=False JobResumed", completions=4, active=2, created=2, status=had("Suspended")),
    "suspended and deleted": row("AA", suspend=True, deleting=True, completions=4, active=2),
    # -- indexes
    "indexes start": indexed(active=2, created=2),
    "indexes are through": indexed("0S 1F 1S 2S", *DONE, completions=3, succeeded=3, failed=1, completed="0-2"),
    "an index fails": indexed("0S 1F 2A", LIMIT[0], completions=3, backoffLimit=0, succeeded=1, failed=2,
        completed="0", terminating=1, deleted=1),
    "an index succeeds twice": indexed("0S 1S 1S", completions=3, active=1, succeeded=2, completed="0,1", created=1),
    "some run, some are through": indexed("0A 2S 3P 4S 5S 7S 8S 9S", parallelism=8, completions=20, active=8,
        succeeded=6, completed="2,4,5,7-9", created=6),
    "some failed": indexed("0F 1P 2F", parallelism=3, completions=4, active=3, failed=2, created=2),
    "some have no index": indexed("A S F A S F P 0S 1A 2A", active=2, succeeded=1, completed="0", terminating=3,
        deleted=3),
    "some have an index twice": indexed("S F A 0S 1A 2A 2P", parallelism=5, active=4, succeeded=1, completed="0",
        terminating=2, deleted=2, created=2),
    "some have an index that is out of range": indexed("0S 5A 6S 7P 8F", active=2, succeeded=1, completed="0",
        terminating=2, deleted=2, created=2),
    "fewer indexes than before": indexed("0A 1A", parallelism=5, active=2,
        status={"succeeded": 1, "completedIndexes": "3"}, now={"parallelism": 2, "completions": 2}),
    "fewer indexes than before, one is through": indexed("0A 1S", parallelism=5, active=1, succeeded=1,
        completed="1", status={"succeeded": 1, "completedIndexes": "3"}, now={"parallelism": 2, "completions": 2}),
    "indexes from before": indexed("0f 1S 3S 2F 5F", completions=7, active=1, created=1, succeeded=6, failed=4,
        completed="0-4,6", status={"failed": 2, "succeeded": 5, "completedIndexes": "0-2,4,6"}),
    # -- a failure policy
    "fails by a code": row("y", *POLICY, parallelism=1, completions=1, podFailurePolicy=TWO_RULES, failed=1),
    "fails by a code, another runs": row("Ay", POLICY[0], completions=2, podFailurePolicy=TWO_RULES, failed=2,
        terminating=1, deleted=1),
    "fails by no code of these": row("z", *POLICY, parallelism=1, completions=1,
        podFailurePolicy=codes(("FailJob", [5, 6]), operator="NotIn"), failed=1),
    "a code of these": row("y", parallelism=1, completions=1,
        podFailurePolicy=codes(("FailJob", [5, 6]), operator="NotIn"), active=1, created=1, failed=1),
    "ignored": row("x", parallelism=1, completions=1, backoffLimit=0, podFailurePolicy=TWO_RULES, active=1,
        created=1),
    "no rule matches": row("F", *LIMIT, parallelism=1, completions=1, backoffLimit=0,
        podFailurePolicy=codes(("Ignore", [3]), ("FailJob", [5])), failed=1),
    "the first rule counts": row("x", parallelism=1, completions=1,
        podFailurePolicy=codes(("Count", [3]), ("Ignore", [3])), active=1, created=1, failed=1),
    "a disruption is ignored": row("D", parallelism=1, completions=1, backoffLimit=0,
        podFailurePolicy=disruption("Ignore"), active=1, created=1),
    "an ignored failure delays as well": row("L", parallelism=1, completions=1, backoffLimit=0,
        podFailurePolicy=disruption("Ignore")),
    "a disruption fails the Job": row("D", *POLICY, parallelism=1, completions=1,
        podFailurePolicy=disruption("FailJob"), failed=1),
    "one that leaves is not looked at": row("T", parallelism=1, backoffLimit=0,
        podFailurePolicy=disruption("Count"), terminating=1),
    # -- a success policy
    "succeeded early": early("0F 0A 1S 2A", EARLY[0], parallelism=3, completions=3, failed=1, succeeded=1,
        terminating=2, deleted=2, completed="1"),
    "succeeded early with a failure policy": early("0F 0A 1S", EARLY[0], podFailurePolicy=disruption("FailJob"),
        failed=1, succeeded=1, terminating=1, deleted=1, completed="1"),
    "succeeded early with a limit for each index": early("0F0 0A0 1S0", EARLY[0], backoffLimitPerIndex=2, failed=1,
        succeeded=1, terminating=1, deleted=1, completed="1", failed_indexes=""),
    "had succeeded early": early("0F 1S", "SuccessCriteriaMet Before", "Complete Before",
        status=had("SuccessCriteriaMet"), failed=1, succeeded=1, completed="1"),
    "a failure goes first": early("0D 0A 1S", POLICY[0], podFailurePolicy=disruption("FailJob"), failed=2,
        succeeded=1, terminating=1, deleted=1, completed="1"),
    "a failed index goes first": early("0F1 1S", *INDEXES, backoffLimitPerIndex=1, failed=1, succeeded=1,
        completed="1", failed_indexes="0"),
    "the limit goes first": early("0F 0F 1S", *LIMIT, backoffLimit=1, failed=2, succeeded=1, completed="1"),
    "a success is not turned by a policy": early("0D 1S", "SuccessCriteriaMet Before", "Complete Before",
        podFailurePolicy=disruption("FailJob"), status=had("SuccessCriteriaMet", succeeded=1, completedIndexes="1"),
        failed=1, succeeded=1, completed="1"),
    "a success is not turned by the limit": early("0F 1S", "SuccessCriteriaMet Before", "Complete Before",
        backoffLimit=0, status=had("SuccessCriteriaMet", succeeded=1, completedIndexes="1"), failed=1, succeeded=1,
        completed="1"),
    "a failure is not turned by a success": early("0f 1S", "FailureTarget Before", "Failed Before",
        status=had("FailureTarget", failed=1), failed=1, succeeded=1, completed="1"),
    # -- a limit for each index
    "an index succeeds after a failure": by_index("0F0 0S1 1S0", *DONE, failed=1, succeeded=2, completed="0,1"),
    "a failed one of an index is replaced": by_index("0F0", active=2, created=2, failed=1),
    "a failed one of an index was replaced": by_index("0F0 0P1", active=2, created=1, failed=1),
    "an index has failed, others go on": by_index("0F1", active=1, created=1, failed=1, failed_indexes="0"),
    "an index fails by policy": by_index("0x0", podFailurePolicy=codes(("FailIndex", [3])), active=1, created=1,
        failed=1, failed_indexes="0"),
    "all fail by policy": by_index("0x0", *POLICY, podFailurePolicy=codes(("FailJob", [3])), failed=1),
    "the failure of an index is ignored": by_index("0x0", podFailurePolicy=codes(("Ignore", [3])), active=2,
        created=2),
    "the limit for all is lower": by_index("0F0 1F0", *LIMIT, backoffLimit=1, failed=2),
    "an index has failed, the other succeeded": by_index("0F1 1S0", *INDEXES, failed=1, succeeded=1, completed="1",
        failed_indexes="0"),
    "too many indexes failed": by_index("0F1 1S0 2F1 3A0", "FailureTarget MaxFailedIndexesExceeded", parallelism=4,
        completions=4, maxFailedIndexes=1, failed=3, succeeded=1, terminating=1, deleted=1, completed="1",
        failed_indexes="0,2"),
}  # fmt: skip
