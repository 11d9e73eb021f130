"""The tables of what makes Pods: Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs (printers.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from engine.api.duration import human_duration, parse_time
from engine.api.selectors import format_label_selector, format_labels
from engine.api.tables.columns import AGE, NAME, Column, Field, Row, kind_table
from engine.api.tables.formats import condition_true, container_images, container_names, go_bool

Template = Callable[[Row], Mapping[str, Any]]


def _template(row: Row) -> Mapping[str, Any]:
    return row.spec.get("template") or {}


def _job_template(row: Row) -> Mapping[str, Any]:
    return (row.spec.get("jobTemplate") or {}).get("spec") or {}


def _names(template: Template = _template) -> Column[Row]:
    return Column(
        "Containers",
        lambda row: container_names(template(row)),
        "Names of each container in the template.",
        priority=1,
    )


def _images(template: Template = _template) -> Column[Row]:
    return Column(
        "Images",
        lambda row: container_images(template(row)),
        "Images referenced by each container in the template.",
        priority=1,
    )


def _selector(definition: str) -> Column[Row]:
    return Column(
        "Selector",
        lambda row: format_label_selector(row.spec.get("selector")),
        Field(definition, "selector"),
        priority=1,
    )


def _count(name: str, field: str, definition: str, type: str = "integer") -> Column[Row]:
    """A number from the status."""
    return Column(name, lambda row: row.status.get(field, 0), Field(definition, field), type=type)


def _desired(definition: str) -> Column[Row]:
    return Column("Desired", lambda row: row.spec.get("replicas", 0), Field(definition, "replicas"), type="integer")


_READY_OF_DESIRED: Column[Row] = Column(
    "Ready",
    lambda row: f"{row.status.get('readyReplicas', 0)}/{row.spec.get('replicas', 0)}",
    "Number of the pod with ready state",
)

_DEPLOYMENT_STATUS = "api.apps.v1.DeploymentStatus"
DEPLOYMENTS = kind_table(
    NAME,
    _READY_OF_DESIRED,
    _count("Up-to-date", "updatedReplicas", _DEPLOYMENT_STATUS, "string"),
    _count("Available", "availableReplicas", _DEPLOYMENT_STATUS, "string"),
    AGE,
    _names(),
    _images(),
    _selector("api.apps.v1.DeploymentSpec"),
)

_REPLICA_SET_STATUS = "api.apps.v1.ReplicaSetStatus"
REPLICA_SETS = kind_table(
    NAME,
    _desired("api.apps.v1.ReplicaSetSpec"),
    _count("Current", "replicas", _REPLICA_SET_STATUS),
    _count("Ready", "readyReplicas", _REPLICA_SET_STATUS),
    AGE,
    _names(),
    _images(),
    _selector("api.apps.v1.ReplicaSetSpec"),
)

_CONTROLLER_STATUS = "api.core.v1.ReplicationControllerStatus"
REPLICATION_CONTROLLERS = kind_table(
    NAME,
    _desired("api.core.v1.ReplicationControllerSpec"),
    _count("Current", "replicas", _CONTROLLER_STATUS),
    _count("Ready", "readyReplicas", _CONTROLLER_STATUS),
    AGE,
    _names(),
    _images(),
    Column(
        "Selector",
        lambda row: format_labels(row.spec.get("selector")),
        Field("api.core.v1.ReplicationControllerSpec", "selector"),
        priority=1,
    ),
)

STATEFUL_SETS = kind_table(NAME, _READY_OF_DESIRED, AGE, _names(), _images())

_DAEMON_SET_STATUS = "api.apps.v1.DaemonSetStatus"
DAEMON_SETS = kind_table(
    NAME,
    _count("Desired", "desiredNumberScheduled", _DAEMON_SET_STATUS),
    _count("Current", "currentNumberScheduled", _DAEMON_SET_STATUS),
    _count("Ready", "numberReady", _DAEMON_SET_STATUS),
    _count("Up-to-date", "updatedNumberScheduled", _DAEMON_SET_STATUS),
    _count("Available", "numberAvailable", _DAEMON_SET_STATUS),
    Column(
        "Node Selector",
        lambda row: format_labels((_template(row).get("spec") or {}).get("nodeSelector")),
        Field("api.core.v1.PodSpec", "nodeSelector"),
    ),
    AGE,
    _names(),
    _images(),
    _selector("api.apps.v1.DaemonSetSpec"),
)


# In this order: a Job that has ended is that, whatever else is true of it.
_JOB_END = ("Complete", "Failed")
_JOB_STATE = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


def _job_status(row: Row) -> str:
    if (ended := _first_true(row, _JOB_END)) is not None:
        return ended
    return "Terminating" if row.deleting else _first_true(row, _JOB_STATE) or "Running"


def _first_true(row: Row, conditions: Iterable[str]) -> str | None:
    return next((condition for condition in conditions if condition_true(row.status, condition)), None)


def _job_completions(row: Row) -> str:
    succeeded = row.status.get("succeeded", 0)
    completions = row.spec.get("completions")
    if completions is not None:
        return f"{succeeded}/{completions}"
    parallelism = row.spec.get("parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_duration(row: Row) -> str:
    started = row.status.get("startTime")
    if not started:
        return ""
    completed = row.status.get("completionTime")
    if not completed:
        return row.since(started)
    return human_duration((parse_time(completed) - parse_time(started)).total_seconds())


JOBS = kind_table(
    NAME,
    Column("Status", _job_status, "Status of the job."),
    Column("Completions", _job_completions, Field("api.batch.v1.JobStatus", "succeeded")),
    Column("Duration", _job_duration, "Time required to complete the job."),
    AGE,
    _names(),
    _images(),
    _selector("api.batch.v1.JobSpec"),
)


def _last_schedule(row: Row) -> str:
    last = row.status.get("lastScheduleTime")
    return row.since(last) if last else "<none>"


_CRON_JOB_SPEC = "api.batch.v1.CronJobSpec"
CRON_JOBS = kind_table(
    NAME,
    Column("Schedule", lambda row: row.spec.get("schedule", ""), Field(_CRON_JOB_SPEC, "schedule")),
    Column("Timezone", lambda row: row.spec.get("timeZone", "<none>"), Field(_CRON_JOB_SPEC, "timeZone")),
    Column("Suspend", lambda row: go_bool(row.spec.get("suspend")), Field(_CRON_JOB_SPEC, "suspend"), type="boolean"),
    Column(
        "Active",
        lambda row: len(row.status.get("active") or ()),
        Field("api.batch.v1.CronJobStatus", "active"),
        type="integer",
    ),
    Column("Last Schedule", _last_schedule, Field("api.batch.v1.CronJobStatus", "lastScheduleTime")),
    AGE,
    _names(lambda row: _job_template(row).get("template") or {}),
    _images(lambda row: _job_template(row).get("template") or {}),
    Column(
        "Selector",
        lambda row: format_label_selector(_job_template(row).get("selector")),
        Field("api.batch.v1.JobSpec", "selector"),
        priority=1,
    ),
)


def _controller(row: Row) -> str:
    """Who controls the object, as `statefulset.apps/web`."""
    for owner in row.metadata.get("ownerReferences") or ():
        if owner.get("controller"):
            group = owner.get("apiVersion", "").rpartition("/")[0]
            kind = f"{owner.get('kind', '')}.{group}" if group else owner.get("kind", "")
            return f"{kind.lower()}/{owner.get('name', '')}"
    return "<none>"


CONTROLLER_REVISIONS = kind_table(
    NAME,
    Column("Controller", _controller, "Controller of the object"),
    Column(
        "Revision",
        lambda row: row.object.get("revision", 0),
        Field("api.apps.v1.ControllerRevision", "revision"),
    ),
    AGE,
)


_BUDGET_COUNT = "Calculated number of pods that may be disrupted at this time."
POD_DISRUPTION_BUDGETS = kind_table(
    NAME,
    Column(
        "Min Available",
        lambda row: str(row.spec.get("minAvailable", "N/A")),
        "The minimum number of pods that must be available.",
    ),
    Column(
        "Max Unavailable",
        lambda row: str(row.spec.get("maxUnavailable", "N/A")),
        "The maximum number of pods that may be unavailable.",
    ),
    Column("Allowed Disruptions", lambda row: row.status.get("disruptionsAllowed", 0), _BUDGET_COUNT, type="integer"),
    AGE,
)
