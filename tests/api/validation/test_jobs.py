"""Jobs and CronJobs, after upstream's TestValidateJob, TestValidateJobUpdate and TestValidateCronJob."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.types import GVK, Object
from engine.api.validation import validate_create, validate_status_update, validate_update
from tests.api.objects import JOB, defaulted, info, prepared, problems

CRON_JOB = GVK("batch", "v1", "CronJob")
UID = "1a2b3c"


def job(*, restart: str = "Never", **spec: Any) -> Object:
    pod_spec = {
        "restartPolicy": restart,
        "containers": [{"name": "abc", "image": "image"}],
        "initContainers": [{"name": "def", "image": "image"}],
    }
    metadata = {"name": "myjob", "namespace": "default", "uid": UID}
    return {"metadata": metadata, "spec": {"template": {"spec": pod_spec}, **spec}}


def failure(*rules: Object) -> Object:
    return {"podFailurePolicy": {"rules": list(rules)}}


def on_codes(action: str = "FailJob", **codes: Any) -> Object:
    return {"action": action, "onExitCodes": {"operator": "In", "values": [1, 2, 3], **codes}}


def success(*rules: Object, completions: int = 5) -> Object:
    return {"completionMode": "Indexed", "completions": completions, "successPolicy": {"rules": list(rules)}}


def indexed(**spec: Any) -> Object:
    return {"completionMode": "Indexed", "completions": 10, "backoffLimitPerIndex": 1, **spec}


RULE = "spec.podFailurePolicy.rules[0]"
SUCCESS = "spec.successPolicy.rules[0]"
NOT_NEGATIVE = "must be greater than or equal to 0"
HIGH = "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"
NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
ROWS: dict[str, tuple[Object, list[str]]] = {
    "success policy": (success({"succeededCount": 1, "succeededIndexes": "0,2,4"}, {"succeededIndexes": "1,3"}), []),
    "success policy of a Job that is not indexed": (
        {"successPolicy": {"rules": []}},
        ['spec.successPolicy: Invalid value: {"Rules":[]}: requires indexed completion mode'],
    ),
    "success policy without rules": (
        success(),
        [
            "spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is "
            "specified"
        ],
    ),
    "success rule of nothing": (
        success({}),
        [f"{SUCCESS}: Required value: at least one of succeededCount or succeededIndexes must be specified"],
    ),
    "success indexes that are none": (
        success({"succeededIndexes": "invalid-format"}),
        [
            f'{SUCCESS}.succeededIndexes: Invalid value: "invalid-format": error parsing succeededIndexes: '
            'cannot convert string to integer for index: "invalid"'
        ],
    ),
    "success indexes backwards": (
        success({"succeededIndexes": "3,1"}),
        [
            f'{SUCCESS}.succeededIndexes: Invalid value: "3,1": error parsing succeededIndexes: '
            "non-increasing order, previous: 3, current: 1"
        ],
    ),
    "success count above the completions": (
        success({"succeededCount": 6}),
        [
            f"{SUCCESS}.succeededCount: Invalid value: 6: must be less than or equal to 5 "
            "(the number of specified completions)"
        ],
    ),
    "success count above the indexes": (
        success({"succeededCount": 4, "succeededIndexes": "0-2"}),
        [
            f"{SUCCESS}.succeededCount: Invalid value: 4: must be less than or equal to 3 "
            "(the number of indexes in the specified succeededIndexes field)"
        ],
    ),
    "success rules without end": (
        success(*[{"succeededCount": 5}] * 21),
        ["spec.successPolicy.rules: Too many: 21: must have at most 20 items"],
    ),
    "failure rule of nothing": (
        failure({"action": "FailJob"}),
        [f"{RULE}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required"],
    ),
    "failure rule of both": (
        failure({**on_codes(), "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}),
        [f"{RULE}: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported"],
    ),
    "exit codes twice": (
        failure(on_codes(values=[12, 13, 13, 13])),
        [f"{RULE}.onExitCodes.values[{index}]: Duplicate value: 13" for index in (2, 3)],
    ),
    "exit codes out of order": (
        failure(on_codes(values=[19, 11])),
        [f"{RULE}.onExitCodes.values: Invalid value: [19,11]: must be ordered"],
    ),
    "no exit codes": (
        failure(on_codes(values=[])),
        [f"{RULE}.onExitCodes.values: Invalid value: []: at least one value is required"],
    ),
    "too many exit codes, and 0": (
        failure(on_codes(values=list(range(256)))),
        [
            f"{RULE}.onExitCodes.values: Too many: 256: must have at most 255 items",
            f"{RULE}.onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator",
        ],
    ),
    "an action left out": (
        failure(on_codes("")),
        [f'{RULE}.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]'],
    ),
    "an action that there is not": (
        failure(on_codes("Foo")),
        [f'{RULE}.action: Unsupported value: "Foo": supported values: "Count", "FailIndex", "FailJob", "Ignore"'],
    ),
    "an index fails where none is counted": (
        failure(on_codes("FailIndex")),
        [f'{RULE}.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'],
    ),
    "an operator left out": (
        failure(on_codes(operator="")),
        [f'{RULE}.onExitCodes.operator: Required value: valid values: ["In" "NotIn"]'],
    ),
    "a container that there is not": (
        failure(on_codes("Ignore", containerName="def"), on_codes(containerName="xyz")),
        [
            'spec.podFailurePolicy.rules[1].onExitCodes.containerName: Invalid value: "xyz": must be one of the '
            "container or initContainer names in the pod template"
        ],
    ),
    "a condition without type": (
        failure({"action": "Ignore", "onPodConditions": [{"type": "", "status": "Foo"}]}),
        [
            f'{RULE}.onPodConditions[0].type: Invalid value: "": name part must be non-empty',
            f'{RULE}.onPodConditions[0].type: Invalid value: "": {NAME_PART}',
            f'{RULE}.onPodConditions[0].status: Unsupported value: "Foo": supported values: "False", "True", "Unknown"',
        ],
    ),
    "a condition whose status goes without saying": (
        failure({"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": ""}]}),
        [],
    ),
    "Pods are replaced before they have failed": (
        {"podReplacementPolicy": "TerminatingOrFailed", **failure()},
        ['spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"'],
    ),
    "managed by a name without a domain": (
        {"managedBy": "invalid custom controller name"},
        [
            'spec.managedBy: Invalid value: "invalid custom controller name": '
            'must be a domain-prefixed path (such as "acme.io/foo")'
        ],
    ),
    "managed by too long a name": (
        {"managedBy": "example.com/" + "x" * 60},
        ["spec.managedBy: Too long: may not be more than 63 bytes"],
    ),
    "indexes count only in indexed Jobs": (
        {"backoffLimitPerIndex": 1},
        ["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"],
    ),
    "more failed indexes than indexes": (
        indexed(maxFailedIndexes=11),
        ["spec.maxFailedIndexes: Invalid value: 11: must be less than or equal to completions"],
    ),
    "many completions without a limit": (
        indexed(completions=100_001),
        ["spec.maxFailedIndexes: Required value: must be specified when completions is above 100000"],
    ),
    "many completions with high limits": (
        indexed(completions=100_001, parallelism=50_000, maxFailedIndexes=100_001),
        [
            "spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 100000",
            f"spec.parallelism: Invalid value: 50000: {HIGH}",
            f"spec.maxFailedIndexes: Invalid value: 100001: {HIGH}",
        ],
    ),
    "failed indexes without a limit for each": (
        {"completionMode": "Indexed", "parallelism": 1, "maxFailedIndexes": 1},
        [
            "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
            "spec.completions: Required value: when completion mode is Indexed",
        ],
    ),
    "nothing below zero": (
        {"parallelism": -1, "backoffLimit": -1, "activeDeadlineSeconds": -1, "ttlSecondsAfterFinished": -1},
        [
            f"spec.{field}: Invalid value: -1: {NOT_NEGATIVE}"
            for field in ("parallelism", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
        ],
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_is_wrong_with_a_job(name: str) -> None:
    spec, expected = ROWS[name]
    assert problems(JOB, job(**spec)) == expected


RESTARTS = {
    "the default": ("Always", {}, ['Required value: valid values: "OnFailure", "Never"']),
    "none that there is": (
        "Invalid",
        {},
        [
            'Unsupported value: "Invalid": supported values: "Always", "OnFailure", "Never"',
            'Unsupported value: "Invalid": supported values: "OnFailure", "Never"',
        ],
    ),
    "in place, with a failure policy": (
        "OnFailure",
        failure(),
        ['Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified'],
    ),
}


@pytest.mark.parametrize("name", RESTARTS)
def test_how_a_job_may_restart(name: str) -> None:
    restart, spec, expected = RESTARTS[name]
    path = "spec.template.spec.restartPolicy"
    assert problems(JOB, job(restart=restart, **spec)) == [f"{path}: {each}" for each in expected]


def test_a_generated_selector_is_its_jobs_own() -> None:
    obj = prepared(JOB, job())
    obj["spec"]["selector"] = {"matchLabels": {"a": "b"}}
    labels = '{"batch.kubernetes.io/controller-uid":"1a2b3c","batch.kubernetes.io/job-name":"myjob",'
    assert [str(cause) for cause in validate_create(info(JOB), obj)] == [
        'spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` not auto-generated',
        f'spec.template.metadata.labels: Invalid value: {labels}"controller-uid":"1a2b3c","job-name":"myjob"}}: '
        "`selector` does not match template `labels`",
    ]


def test_labels_name_the_job() -> None:
    obj = defaulted(JOB, job(selector={"matchLabels": {"batch.kubernetes.io/controller-uid": UID}}))
    obj["spec"]["template"]["metadata"] = {"labels": {"job-name": "other"}}
    path = "spec.template.metadata.labels"
    assert [str(cause) for cause in validate_create(info(JOB), obj)] == [
        f"{path}[controller-uid]: Required value: must be '1a2b3c'",
        f'{path}[job-name]: Invalid value: {{"job-name":"other"}}: must be \'myjob\'',
        f"{path}[batch.kubernetes.io/controller-uid]: Required value: must be '1a2b3c'",
        f"{path}[batch.kubernetes.io/job-name]: Required value: must be 'myjob'",
        f'{path}: Invalid value: {{"job-name":"other"}}: `selector` does not match template `labels`',
    ]


def updated(old_fields: Object, change: Any, *, status: Object | None = None) -> list[str]:
    old = prepared(JOB, job(**old_fields))
    old["metadata"]["resourceVersion"] = "1"
    old["status"] = status or {}
    new = copy.deepcopy(old)
    change(new["spec"])
    return [str(cause) for cause in validate_update(info(JOB), new, old)]


def test_a_template_is_shown_as_go_has_it() -> None:
    def change(spec: Object) -> None:
        spec["template"]["spec"]["containers"][0]["image"] = "other"

    (problem,) = updated({}, change)
    assert problem.startswith('spec.template: Invalid value: {"labels":{"batch.kubernetes.io/controller-uid":"1a2b3c",')
    assert (
        '"Spec":{"Volumes":null,"InitContainers":[{"Name":"def","Image":"image","Command":null,"Args":null,'
        '"WorkingDir":"","Ports":null,"EnvFrom":null,"Env":null,'
        '"Resources":{"Limits":null,"Requests":null,"Claims":null},"ResizePolicy":null,'
    ) in problem
    assert problem.endswith("}}: field is immutable")


def _narrow(spec: Object) -> None:
    spec["template"]["spec"] |= {
        "nodeSelector": {"zone": "a"},
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "schedulingGates": [{"name": "a.io/b"}],
    }
    spec["template"]["metadata"]["annotations"] = {"a": "b"}
    spec["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}}


UPDATES: dict[str, tuple[Object, Any, Object, bool]] = {
    "a suspended Job may be placed otherwise": ({"suspend": True}, _narrow, {}, True),
    "a Job that runs may not": ({}, _narrow, {}, False),
    "nor one that was suspended after it had run, before its Pods are gone": (
        {"suspend": True},
        _narrow,
        {"startTime": "2026-01-01T00:00:00Z"},
        False,
    ),
    "nor while a Pod of it is left": (
        {"suspend": True},
        _narrow,
        {"active": 1, "conditions": [{"type": "Suspended", "status": "True"}]},
        False,
    ),
    "but then": (
        {"suspend": True},
        _narrow,
        {"startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Suspended", "status": "True"}]},
        True,
    ),
    "an indexed Job is elastic": (
        {"completionMode": "Indexed", "completions": 3, "parallelism": 3},
        lambda spec: spec.update(completions=4, parallelism=4),
        {},
        True,
    ),
    "completions alone may not change": (
        {"completionMode": "Indexed", "completions": 3, "parallelism": 3},
        lambda spec: spec.update(completions=4),
        {},
        False,
    ),
    "nor those of any other Job": ({"completions": 3}, lambda spec: spec.update(completions=4), {}, False),
    "nor whom it is managed by": ({"managedBy": "a.io/b"}, lambda spec: spec.update(managedBy="a.io/c"), {}, False),
}


@pytest.mark.parametrize("name", UPDATES)
def test_what_may_change_of_a_job(name: str) -> None:
    fields, change, status, allowed = UPDATES[name]
    assert (updated(fields, change, status=status) == []) is allowed


TRUE: Object = {"status": "True"}
STATUSES: dict[str, tuple[Object, Object, list[str]]] = {
    "complete without the criteria": (
        {},
        {
            "conditions": [{"type": "Complete", **TRUE}],
            "startTime": "2026-01-01T00:00:00Z",
            "completionTime": "2026-01-01T00:00:00Z",
        },
        ["conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition"],
    ),
    "failed is for ever": (
        {"conditions": [{"type": "Failed", **TRUE}, {"type": "FailureTarget", **TRUE}]},
        {"conditions": [{"type": "FailureTarget", **TRUE}]},
        ["conditions: Invalid value: cannot disable the terminal Failed=True condition"],
    ),
    "indexes of a Job that has none": (
        {},
        {"completedIndexes": "0"},
        [
            'completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion '
            "mode"
        ],
    ),
    "a Pod counted twice": (
        {},
        {"uncountedTerminatedPods": {"succeeded": ["a"], "failed": ["a", ""]}},
        [
            'uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
            'uncountedTerminatedPods.failed[1]: Invalid value: "": must not be empty',
        ],
    ),
    "all at once, in upstream's order": (
        {"startTime": "2026-01-02T00:00:00Z", "completionTime": "2026-01-02T00:00:00Z"},
        {
            "active": 1,
            "ready": 2,
            "terminating": 1,
            "completionTime": "2026-01-01T00:00:00Z",
            "failedIndexes": "0",
            "uncountedTerminatedPods": {"succeeded": ["a"]},
            "conditions": [{"type": "Complete", **TRUE}, {"type": "Failed", **TRUE}, {"type": "FailureTarget", **TRUE}],
        },
        [
            "conditions: Invalid value: cannot set Complete=True and Failed=true conditions",
            "conditions: Invalid value: cannot set Complete=True and FailureTarget=true conditions",
            "conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true "
            "condition",
            "active: Invalid value: 1: active>0 is invalid for finished job",
            "startTime: Required value: startTime is required for finished job",
            'uncountedTerminatedPods: Invalid value: {"Succeeded":["a"],"Failed":null}: must be empty for finished job',
            'failedIndexes: Invalid value: "0": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
            "terminating: Invalid value: 1: terminating>0 is invalid for finished job",
            "ready: Invalid value: 2: cannot set more ready pods than active",
            'completionTime: Invalid value: "2026-01-01T00:00:00Z": field is immutable',
            "startTime: Invalid value: null: field is immutable for unsuspended job once set",
        ],
    ),
    "completed before it started": (
        {},
        {
            "startTime": "2026-01-02T00:00:00Z",
            "completionTime": "2026-01-01T00:00:00Z",
            "conditions": [{"type": "Complete", **TRUE}, {"type": "SuccessCriteriaMet", **TRUE}],
        },
        ['completionTime: Invalid value: "2026-01-01T00:00:00Z": must be equal to or after `startTime`'],
    ),
    "what was wrong before is let be": (
        {"completedIndexes": "0", "failedIndexes": "0", "active": 1, "ready": 2},
        {"completedIndexes": "0", "failedIndexes": "0", "active": 1, "ready": 2, "failed": 1},
        [],
    ),
    "success and failure": (
        {},
        {"conditions": [{"type": kind, **TRUE} for kind in ("SuccessCriteriaMet", "FailureTarget", "Failed")]}
        | {"startTime": "2026-01-02T00:00:00Z"},
        [
            "conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions",
            "conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
        ],
    ),
    "success is for ever": (
        {"conditions": [{"type": "SuccessCriteriaMet", **TRUE}]},
        {},
        ["conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition"],
    ),
    "started anew after it was suspended": (
        {"startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Suspended", **TRUE}]},
        {"startTime": "2026-01-02T00:00:00Z", "conditions": [{"type": "Suspended", "status": "False"}]},
        [],
    ),
    "started anew though it was not": (
        {"startTime": "2026-01-01T00:00:00Z"},
        {"startTime": "2026-01-02T00:00:00Z"},
        ['startTime: Invalid value: "2026-01-02T00:00:00Z": field is immutable for unsuspended job once set'],
    ),
    "fewer have failed": (
        {"failed": 2},
        {"failed": 1},
        ["failed: Invalid value: 1: cannot decrease the failed counter"],
    ),
}


@pytest.mark.parametrize("name", STATUSES)
def test_what_the_status_of_a_job_may_not_say(name: str) -> None:
    before, status, expected = STATUSES[name]
    old = prepared(JOB, job())
    old["metadata"]["resourceVersion"] = "1"
    old, new = {**old, "status": before}, {**old, "status": status}
    found = [str(cause) for cause in validate_status_update(info(JOB), new, old)]
    assert found == [f"status.{each}" for each in expected]


_INDEXED: Object = {"completionMode": "Indexed", "completions": 5, "parallelism": 5, "backoffLimitPerIndex": 1}
INDEXES: dict[str, tuple[Object, Object, list[str]]] = {
    "lists that overlap": (
        {},
        {"completedIndexes": "0,2-4", "failedIndexes": "1,3-4"},
        ['failedIndexes: Invalid value: "1,3-4": failedIndexes and completedIndexes overlap at index: 3'],
    ),
    "lists that cannot be read": (
        {},
        {"completedIndexes": "0,5", "failedIndexes": "x,1-2"},
        [
            'completedIndexes: Invalid value: "0,5": error parsing completedIndexes: too large index: "5"',
            'failedIndexes: Invalid value: "x,1-2": error parsing failedIndexes: cannot convert string to integer '
            'for index: "x"',
        ],
    ),
    "fewer that succeeded, of a Job that may shrink": ({"succeeded": 2}, {"succeeded": 1}, []),
}


@pytest.mark.parametrize("name", INDEXES)
def test_what_the_status_of_an_indexed_job_may_not_say(name: str) -> None:
    before, status, expected = INDEXES[name]
    old = prepared(JOB, job(**_INDEXED))
    old["metadata"]["resourceVersion"] = "1"
    old, new = {**old, "status": before}, {**old, "status": status}
    found = [str(cause) for cause in validate_status_update(info(JOB), new, old)]
    assert found == [f"status.{each}" for each in expected]


def test_an_updated_job_is_checked_as_a_whole_and_its_spec_once_more() -> None:
    def change(spec: Object) -> None:
        spec["backoffLimit"] = -1
        spec["template"]["metadata"]["labels"].pop("job-name")

    labels = "spec.template.metadata.labels[job-name]: Required value: must be 'myjob'"
    limit = f"spec.backoffLimit: Invalid value: -1: {NOT_NEGATIVE}"
    assert updated({"suspend": True}, change) == [labels, limit, limit]


CRONS: dict[str, tuple[Object, list[str]]] = {
    "a zone in the schedule": (
        {"schedule": "TZ=UTC 0 * * * *"},
        [
            'spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone '
            "field instead"
        ],
    ),
    "no schedule, a negative deadline": (
        {"schedule": "", "startingDeadlineSeconds": -1},
        [f"spec.startingDeadlineSeconds: Invalid value: -1: {NOT_NEGATIVE}", "spec.schedule: Required value"],
    ),
    "the machine's own zone, by another name": (
        {"schedule": "* * * * *", "timeZone": "lOcAl"},
        [
            'spec.timeZone: Invalid value: "lOcAl": timeZone must be an explicit time zone as defined in '
            "https://www.iana.org/time-zones",
            'spec.timeZone: Invalid value: "lOcAl": unknown time zone lOcAl',
        ],
    ),
    "a zone that there is not": (
        {"schedule": "* * * * *", "timeZone": "Europe/InvalidRome"},
        ['spec.timeZone: Invalid value: "Europe/InvalidRome": unknown time zone Europe/InvalidRome'],
    ),
    "a selector": (
        {
            "schedule": "* * * * *",
            "jobTemplate": {"spec": {**job()["spec"], "selector": {"matchLabels": {"a": "b"}}, "manualSelector": True}},
        },
        [
            'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be '
            "auto-generated",
            'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
        ],
    ),
}


@pytest.mark.parametrize("name", CRONS)
def test_what_is_wrong_with_a_cron_job(name: str) -> None:
    spec, expected = CRONS[name]
    metadata = {"name": "mycron", "namespace": "default"}
    obj = {"metadata": metadata, "spec": {"jobTemplate": {"spec": job()["spec"]}, **spec}}
    assert problems(CRON_JOB, obj) == expected


def test_a_suspended_job_that_asks_for_nothing_is_complete_without_a_start() -> None:
    old = prepared(JOB, job(completions=0, suspend=True))
    old["metadata"]["resourceVersion"] = "1"
    met = [{"type": kind, **TRUE} for kind in ("SuccessCriteriaMet", "Complete")]
    new = {**old, "status": {"completionTime": "2026-01-01T00:00:00Z", "conditions": met}}
    assert validate_status_update(info(JOB), new, old) == []
    running = {"spec": {**old["spec"], "suspend": False}}
    assert [cause.field for cause in validate_status_update(info(JOB), {**new, **running}, {**old, **running})] == [
        "status.startTime"
    ]


def test_a_value_that_no_label_has_may_stay_in_the_selector() -> None:
    bad = {"key": "a", "operator": "NotIn", "values": ["bad value"]}
    old = prepared(JOB, job(manualSelector=True, selector={"matchExpressions": [bad]}))
    old["metadata"]["resourceVersion"] = "1"
    assert "spec.selector.matchExpressions[0].values[0]" in [cause.field for cause in validate_create(info(JOB), old)]
    new = {**old, "metadata": {**old["metadata"], "labels": {"touched": "yes"}}}
    assert validate_update(info(JOB), new, old) == []
