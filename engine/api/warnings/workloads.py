"""What Pods, and those who make them, are warned of (the strategies of pkg/registry/apps, batch and core)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.api.types import Object
from engine.api.validation.text import dns_label
from engine.api.warnings.pods import pod_warnings
from engine.api.warnings.storage import claim_spec

_SURPRISE = "which can result in surprising behavior; a DNS label is recommended"
_MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"
_MOUNTABLE_TEXT = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
_HISTORY_TEXT = "a negative value retains all historical revisions; a value >= 0 is recommended"
_TIME_ZONE_TEXT = (
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, "
    "see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)
_MANY_INDEXES_TEXT = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes "
    "might not be able to track completedIndexes when a big number of indexes fail"
)
_MANY_COMPLETIONS, _MANY_AT_ONCE = 100_000, 10_000


def pod(obj: Object) -> list[str]:
    return pod_name(obj) + pod_warnings(obj, "")


def pod_name(obj: Object) -> list[str]:
    return _name(obj, "the Pod's hostname")


def pod_template(obj: Object) -> list[str]:
    return pod_warnings(obj.get("template") or {}, "template.")


def service_account(obj: Object) -> list[str]:
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    return [f"metadata.annotations[{_MOUNTABLE}]: {_MOUNTABLE_TEXT}"] if _MOUNTABLE in annotations else []


def _name(obj: Object, use: str) -> list[str]:
    wrong = dns_label((obj.get("metadata") or {}).get("name", ""))
    return [f"metadata.name: this is used in {use}, {_SURPRISE}: [{' '.join(wrong)}]"] if wrong else []


def _pod_names(obj: Object) -> list[str]:
    return _name(obj, "Pod names and hostnames")


def _template(obj: Object) -> list[str]:
    return pod_warnings((obj.get("spec") or {}).get("template") or {}, "spec.template.")


def _workload(obj: Object) -> list[str]:
    return _pod_names(obj) + _template(obj)


def _stateful_set_extras(obj: Object) -> list[str]:
    spec, found = obj.get("spec") or {}, []
    if (spec.get("revisionHistoryLimit") or 0) < 0:
        found.append(f"spec.revisionHistoryLimit: {_HISTORY_TEXT}")
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        found += claim_spec(claim.get("spec") or {}, f"spec.volumeClaimTemplates[{index}].Spec")
    return found


def _job_spec(spec: Object, path: str) -> list[str]:
    many = (spec.get("completions") or 0) > _MANY_COMPLETIONS and (spec.get("parallelism") or 0) > _MANY_AT_ONCE
    found = [f"{path}: {_MANY_INDEXES_TEXT}"] if many and spec.get("completionMode") == "Indexed" else []
    return found + pod_warnings(spec.get("template") or {}, f"{path}.template.")


def _job(obj: Object) -> list[str]:
    return _job_spec(obj.get("spec") or {}, "spec")


def _cron_job(obj: Object) -> list[str]:
    return _job_spec(((obj.get("spec") or {}).get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec")


def _schedule(obj: Object) -> list[str]:
    """Of a zone that was there already: a new CronJob with one is refused."""
    return [_TIME_ZONE_TEXT] if "TZ" in (obj.get("spec") or {}).get("schedule", "") else []


ON_CREATE: Mapping[tuple[str, str], Callable[[Object], list[str]]] = {
    ("", "Pod"): pod,
    ("", "PodTemplate"): pod_template,
    ("", "ReplicationController"): _workload,
    ("apps", "DaemonSet"): _template,
    ("apps", "Deployment"): _workload,
    ("apps", "ReplicaSet"): _workload,
    ("apps", "StatefulSet"): lambda obj: _workload(obj) + _stateful_set_extras(obj),
    ("batch", "CronJob"): lambda obj: _pod_names(obj) + _cron_job(obj),
    ("batch", "Job"): lambda obj: _pod_names(obj) + _job(obj),
}


def _if_generation(found: Callable[[Object], list[str]]) -> Callable[[Object, Object], list[str]]:
    """Only of what the client wants otherwise than before: of another generation."""
    return lambda new, old: found(new) if _generation(new) != _generation(old) else []


def _generation(obj: Object) -> int:
    return int(obj["metadata"].get("generation", 0))


def _daemon_set_update(new: Object, old: Object) -> list[str]:
    """Of a DaemonSet only the template has a generation that counts here."""
    return _template(new) if new["spec"].get("template") != old["spec"].get("template") else []


_TEMPLATE_UPDATE = _if_generation(_template)
_CRON_JOB_UPDATE = _if_generation(_cron_job)
ON_UPDATE: Mapping[tuple[str, str], Callable[[Object, Object], list[str]]] = {
    ("", "PodTemplate"): _if_generation(pod_template),
    ("", "ReplicationController"): _TEMPLATE_UPDATE,
    ("apps", "DaemonSet"): _daemon_set_update,
    ("apps", "Deployment"): _TEMPLATE_UPDATE,
    ("apps", "ReplicaSet"): _TEMPLATE_UPDATE,
    ("apps", "StatefulSet"): lambda new, old: _TEMPLATE_UPDATE(new, old) + _stateful_set_extras(new),
    ("batch", "CronJob"): lambda new, old: _CRON_JOB_UPDATE(new, old) + _schedule(new),
    ("batch", "Job"): _if_generation(_job),
}
