"""Defaults of Jobs and CronJobs (pkg/apis/batch/v1/defaults.go)."""

from __future__ import annotations

from engine.api.defaults.workloads import template
from engine.api.types import Object

_UNLIMITED = 2**31 - 1


def job(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", _UNLIMITED if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    labels = spec.get("template", {}).get("metadata", {}).get("labels")
    if labels and not obj.setdefault("metadata", {}).get("labels"):
        # The same map, as upstream: what the strategy labels the Pods with, the Job is labelled with as well.
        obj["metadata"]["labels"] = labels
    _pod_failure_policy(spec)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    template(spec)
    if not spec["template"]["metadata"]:  # the strategy is about to label it; until then nobody owns it
        del spec["template"]["metadata"]


def _pod_failure_policy(spec: Object) -> None:
    for rule in spec.get("podFailurePolicy", {}).get("rules", ()):
        for pattern in rule.get("onPodConditions", ()):
            if not pattern.get("status"):
                pattern["status"] = "True"


def cron_job(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    job_template = spec.setdefault("jobTemplate", {})
    job_template.setdefault("metadata", {})
    job_spec = job_template.setdefault("spec", {})
    _pod_failure_policy(job_spec)
    template(job_spec)
